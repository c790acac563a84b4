import type { ReducerCase } from "./reducer-case.ts";

const pending = [{ content: "a", status: "pending" }];
const bound = (sandbox_id?: string | null) => [
  { type: "SandboxBound", data: sandbox_id === undefined ? {} : { sandbox_id } },
];
const ship = { objective: "ship", status: "active" };

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
