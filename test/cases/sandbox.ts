/** Facts about eager and lazy binding. `acquired`: threads that a sandbox was asked for. */
export const bindingCases = [
  {
    id: "SBX-02",
    what: "a sandbox that is there is kept",
    lazy: false,
    bound: "old",
    threadId: "t",
    binds: null,
    acquired: [],
  },
  {
    id: "SBX-03",
    what: "no thread, no sandbox",
    lazy: false,
    bound: null,
    threadId: "",
    binds: null,
    acquired: [],
  },
  {
    id: "SBX-04",
    what: "lazy: none before a tool needs it",
    lazy: true,
    bound: null,
    threadId: "t",
    binds: null,
    acquired: [],
  },
] as const;

/** Facts about what goes back after a run. `owner`: the thread that the box in the state was made for. */
export const releaseCases = [
  { id: "SBX-09", what: "the box in the state", bound: "s1", owner: "t", released: ["s1"] },
  { id: "SBX-11", what: "nothing, when there is none", bound: null, owner: "t", released: [] },
  { id: "SBX-12", what: "never a box that a fork inherited", bound: "s1", owner: "parent", released: [] },
] as const;
