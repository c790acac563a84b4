import type { ReducerCase } from "./reducer-case.ts";

const png = { mime_type: "image/png", size: 1 };
const jpg = { mime_type: "image/jpeg", size: 2 };
const done = { id: "a", status: "completed" };
const skill = (path: string, description = "d", loaded_at = 0) => ({
  name: "n",
  path,
  description,
  loaded_at,
});
const eightSkills = Array.from({ length: 8 }, (_, n) => skill(`/s/s${n}`));

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
