/** A fact about one field: what it holds after an update, or after events. `null` before: the field is absent. */
export interface ReducerCase {
  readonly id: string;
  readonly title: string;
  readonly field: string;
  readonly before: unknown;
  /** A plain update, as a hook returns it. */
  readonly update?: unknown;
  /** Events, where the fact is about an event. */
  readonly events?: readonly { readonly type: string; readonly data: unknown }[];
  readonly after?: unknown;
  /** Name of the error that refuses the update. */
  readonly error?: string;
}

const png = { mime_type: "image/png", size: 1 };
const jpg = { mime_type: "image/jpeg", size: 2 };
const pending = [{ content: "a", status: "pending" }];
const human = (id: string, content: string) => ({ type: "human", id, content });
const ai = (id: string, content: string) => ({ type: "ai", id, content });
const remove = (id: string) => ({ type: "remove", id });
const skill = (path: string, description = "d", loaded_at = 0) => ({
  name: "n",
  path,
  description,
  loaded_at,
});
const eightSkills = Array.from({ length: 8 }, (_, n) => skill(`/s/s${n}`));
const bound = (sandbox_id?: string | null) => [
  { type: "SandboxBound", data: sandbox_id === undefined ? {} : { sandbox_id } },
];

export const sandboxCases: readonly ReducerCase[] = [
  {
    id: "RED-SBX-05",
    title: "null and null are the same",
    field: "sandbox",
    before: { sandbox_id: null },
    events: bound(null),
    after: { sandbox_id: null },
  },
  {
    id: "RED-SBX-06",
    title: "no id and no id are the same",
    field: "sandbox",
    before: {},
    events: bound(),
    after: {},
  },
  {
    id: "RED-SBX-07",
    title: "a missing id equals a null id; the older object stays",
    field: "sandbox",
    before: {},
    events: bound(null),
    after: {},
  },
  {
    id: "RED-SBX-08",
    title: "another sandbox is refused",
    field: "sandbox",
    before: { sandbox_id: "s1" },
    events: bound("s2"),
    error: "SandboxConflictError",
  },
  {
    id: "RED-SBX-09",
    title: "an object without an id conflicts with a real id",
    field: "sandbox",
    before: {},
    events: bound("s1"),
    error: "SandboxConflictError",
  },
  {
    id: "RED-SBX-10",
    title: "a real id conflicts with an object without one",
    field: "sandbox",
    before: { sandbox_id: "s1" },
    events: bound(),
    error: "SandboxConflictError",
  },
  {
    id: "ART-15",
    title: "two tools that bind the same sandbox agree",
    field: "sandbox",
    before: null,
    events: [...bound("A"), ...bound("A")],
    after: { sandbox_id: "A" },
  },
];

export const artifactCases: readonly ReducerCase[] = [
  {
    id: "RED-ART-02",
    title: "null changes nothing",
    field: "artifacts",
    before: ["a"],
    update: null,
    after: ["a"],
  },
  { id: "RED-ART-03", title: "the first paths", field: "artifacts", before: [], update: ["a"], after: ["a"] },
  {
    id: "RED-ART-04",
    title: "nothing yet is an empty list",
    field: "artifacts",
    before: [],
    update: null,
    after: [],
  },
  {
    id: "RED-ART-06",
    title: "repeats keep their first place",
    field: "artifacts",
    before: [],
    update: ["b", "a", "b"],
    after: ["b", "a"],
  },
  {
    id: "RED-ART-07",
    title: "an empty list is no clear",
    field: "artifacts",
    before: ["a"],
    update: [],
    after: ["a"],
  },
];

export const imageCases: readonly ReducerCase[] = [
  {
    id: "RED-IMG-02",
    title: "the clear event clears",
    field: "viewed_images",
    before: { "/u/a.png": png },
    events: [{ type: "ImagesCleared", data: {} }],
    after: {},
  },
  {
    id: "RED-IMG-04",
    title: "the first image",
    field: "viewed_images",
    before: {},
    update: { "/u/a.png": png },
    after: { "/u/a.png": png },
  },
  {
    id: "RED-IMG-06",
    title: "an empty map on an empty map",
    field: "viewed_images",
    before: {},
    update: {},
    after: {},
  },
  {
    id: "RED-IMG-07",
    title: "the newest entry of a path wins",
    field: "viewed_images",
    before: { "/u/a.png": png, "/u/b.jpg": jpg },
    update: { "/u/a.png": { ...png, size: 9 } },
    after: { "/u/a.png": { ...png, size: 9 }, "/u/b.jpg": jpg },
  },
  {
    id: "RED-IMG-08",
    title: "an image after a clear",
    field: "viewed_images",
    before: {},
    update: { "/u/b.jpg": jpg },
    after: { "/u/b.jpg": jpg },
  },
];

export const todoCases: readonly ReducerCase[] = [
  {
    id: "RED-TOD-01",
    title: "the whole list is replaced",
    field: "todos",
    before: pending,
    update: [
      { content: "a", status: "completed" },
      { content: "b", status: "pending" },
    ],
    after: [
      { content: "a", status: "completed" },
      { content: "b", status: "pending" },
    ],
  },
  {
    id: "RED-TOD-02",
    title: "null keeps the list",
    field: "todos",
    before: pending,
    update: null,
    after: pending,
  },
  {
    id: "RED-TOD-03",
    title: "the first list",
    field: "todos",
    before: null,
    update: pending,
    after: pending,
  },
  { id: "RED-TOD-05", title: "an empty list clears", field: "todos", before: pending, update: [], after: [] },
  { id: "RED-TOD-07", title: "an empty first list", field: "todos", before: null, update: [], after: [] },
];

const ship = { objective: "ship", status: "active" };
export const goalCases: readonly ReducerCase[] = [
  {
    id: "RED-GOL-01",
    title: "a null update keeps the goal",
    field: "goal",
    before: ship,
    update: null,
    after: ship,
  },
  { id: "RED-GOL-02", title: "the first goal", field: "goal", before: null, update: ship, after: ship },
];

export const promotedCases: readonly ReducerCase[] = [
  {
    id: "RED-PRO-02",
    title: "an empty object changes nothing",
    field: "promoted",
    before: { catalog_hash: "abc", names: ["search"] },
    update: {},
    after: { catalog_hash: "abc", names: ["search"] },
  },
  {
    id: "RED-PRO-03",
    title: "names are kept once",
    field: "promoted",
    before: null,
    update: { catalog_hash: "abc", names: ["search", "search", "fetch"] },
    after: { catalog_hash: "abc", names: ["search", "fetch"] },
  },
  {
    id: "CHN-01",
    title: "the first write goes through the reducer, too",
    field: "promoted",
    before: null,
    update: { catalog_hash: "h", names: ["a", "a"] },
    after: { catalog_hash: "h", names: ["a"] },
  },
  {
    id: "RED-PRO-05",
    title: "names are added while the catalogue stays",
    field: "promoted",
    before: { catalog_hash: "abc", names: ["search", "fetch"] },
    update: { catalog_hash: "abc", names: ["fetch", "scrape"] },
    after: { catalog_hash: "abc", names: ["search", "fetch", "scrape"] },
  },
  {
    id: "RED-PRO-06",
    title: "a value without a catalogue is replaced",
    field: "promoted",
    before: { names: ["stale"] },
    update: { catalog_hash: "abc", names: ["search"] },
    after: { catalog_hash: "abc", names: ["search"] },
  },
  {
    id: "RED-PRO-08",
    title: "a new catalogue without names wipes the old names",
    field: "promoted",
    before: { catalog_hash: "abc", names: ["a"] },
    update: { catalog_hash: "def", names: [] },
    after: { catalog_hash: "def", names: [] },
  },
  {
    id: "RED-PRO-09",
    title: "a first catalogue without names",
    field: "promoted",
    before: null,
    update: { catalog_hash: "abc", names: [] },
    after: { catalog_hash: "abc", names: [] },
  },
  {
    id: "RED-PRO-10",
    title: "names without a catalogue are refused",
    field: "promoted",
    before: { catalog_hash: "abc", names: ["a"] },
    update: { names: ["b"] },
    error: "InvalidEventError",
  },
];

const done = { id: "a", status: "completed" };
export const delegationCases: readonly ReducerCase[] = [
  {
    id: "RED-DEL-01",
    title: "null changes nothing",
    field: "delegations",
    before: [done],
    update: null,
    after: [done],
  },
  {
    id: "RED-DEL-02",
    title: "nothing yet is an empty list",
    field: "delegations",
    before: [],
    update: [],
    after: [],
  },
  {
    id: "RED-DEL-03",
    title: "a new id is appended",
    field: "delegations",
    before: [done],
    update: [{ id: "b", status: "completed" }],
    after: [done, { id: "b", status: "completed" }],
  },
  {
    id: "RED-DEL-05",
    title: "finished work never becomes unfinished",
    field: "delegations",
    before: [done],
    update: [{ id: "a", status: "in_progress" }],
    after: [done],
  },
  {
    id: "RED-DEL-07",
    title: "the first time of creation and the run id stay",
    field: "delegations",
    before: [{ id: "a", status: "in_progress", created_at: "t1", run_id: "r1" }],
    update: [{ id: "a", status: "completed", created_at: "t2" }],
    after: [{ id: "a", status: "completed", created_at: "t1", run_id: "r1" }],
  },
  {
    id: "RED-DEL-08",
    title: "one finished status may replace another",
    field: "delegations",
    before: [{ id: "a", status: "failed" }],
    update: [done],
    after: [done],
  },
];

export const skillCases: readonly ReducerCase[] = [
  {
    id: "RED-SKL-01",
    title: "null changes nothing",
    field: "skill_context",
    before: [skill("/s/a")],
    update: null,
    after: [skill("/s/a")],
  },
  {
    id: "RED-SKL-03",
    title: "a skill that is read again replaces its entry",
    field: "skill_context",
    before: [skill("/s/a", "old", 1)],
    update: [skill("/s/a", "new", 9)],
    after: [skill("/s/a", "new", 9)],
  },
  {
    id: "RED-SKL-06",
    title: "the ninth skill pushes the oldest out",
    field: "skill_context",
    before: eightSkills,
    update: [skill("/s/new")],
    after: [...eightSkills.slice(1), skill("/s/new")],
  },
  {
    id: "RED-SKL-07",
    title: "a re-read skill moves to the end before the oldest goes",
    field: "skill_context",
    before: eightSkills,
    update: [skill("/s/s0", "again"), skill("/s/new")],
    after: [...eightSkills.slice(2), skill("/s/s0", "again"), skill("/s/new")],
  },
  {
    id: "RED-SKL-08",
    title: "descriptions are cut at 500 characters",
    field: "skill_context",
    before: [],
    update: [skill("/s/a", "x".repeat(2000))],
    after: [skill("/s/a", "x".repeat(500))],
  },
];

const one = human("1", "a");
const two = ai("2", "b");
export const messageCases: readonly ReducerCase[] = [
  {
    id: "RED-MSG-01",
    title: "a new message is appended",
    field: "messages",
    before: [one],
    update: [two],
    after: [one, two],
  },
  {
    id: "RED-MSG-02",
    title: "the same id replaces in place",
    field: "messages",
    before: [one, two],
    update: [human("1", "a2")],
    after: [human("1", "a2"), two],
  },
  {
    id: "RED-MSG-04",
    title: "a removal by id",
    field: "messages",
    before: [one, two],
    update: [remove("1")],
    after: [two],
  },
  {
    id: "RED-MSG-06",
    title: "the marker removes all",
    field: "messages",
    before: [one, two],
    update: [remove("__remove_all__")],
    after: [],
  },
  {
    id: "RED-MSG-11",
    title: "replace, then remove: removed",
    field: "messages",
    before: [one],
    update: [human("1", "b"), remove("1")],
    after: [],
  },
  {
    id: "RED-MSG-12",
    title: "a message of the same update may be removed",
    field: "messages",
    before: [one],
    update: [human("2", "b"), remove("2")],
    after: [one],
  },
  {
    id: "RED-MSG-13",
    title: "an id twice in one update: the last wins",
    field: "messages",
    before: [],
    update: [human("1", "a"), human("1", "b")],
    after: [human("1", "b")],
  },
  {
    id: "RED-MSG-14",
    title: "of a stored double the last place is replaced",
    field: "messages",
    before: [human("1", "a"), human("1", "b")],
    update: [human("1", "c")],
    after: [human("1", "a"), human("1", "c")],
  },
  {
    id: "RED-MSG-15",
    title: "a removal takes every copy of a stored double",
    field: "messages",
    before: [human("1", "a"), human("1", "b")],
    update: [remove("1")],
    after: [],
  },
  {
    id: "RED-MSG-18",
    title: "null is an error, not a no-op",
    field: "messages",
    before: [one],
    update: null,
    error: "EmptyMessagesUpdateError",
  },
  {
    id: "RED-MSG-19",
    title: "a stray removal after the marker is refused",
    field: "messages",
    before: [one],
    update: [remove("__remove_all__"), remove("zz")],
    error: "UnknownMessageError",
  },
  {
    id: "RED-MSG-20",
    title: "role and content become a message",
    field: "messages",
    before: [],
    update: { role: "user", content: "hi", id: "d1" },
    after: [human("d1", "hi")],
  },
  {
    id: "RED-MSG-23",
    title: "an unknown role is refused",
    field: "messages",
    before: [],
    update: [{ role: "bogus", content: "hi", id: "x" }],
    error: "NotAMessageError",
  },
  {
    id: "RED-MSG-25",
    title: "removed in one event, added in a later one",
    field: "messages",
    before: [human("same", "old")],
    events: [
      { type: "MessagesRemoved", data: { ids: ["same"] } },
      { type: "MessagesAdded", data: { messages: [ai("same", "later")] } },
    ],
    after: [ai("same", "later")],
  },
];

export const reducerCases: readonly ReducerCase[] = [
  ...sandboxCases,
  ...artifactCases,
  ...imageCases,
  ...todoCases,
  ...goalCases,
  ...promotedCases,
  ...delegationCases,
  ...skillCases,
  ...messageCases,
];
