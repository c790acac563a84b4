/** A small change of one source file that makes it wrong. */
export interface Mutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** What has to notice: the laws of a field, or the checks of whole logs. */
  readonly by: string | "logs";
  /** Why nothing can notice: the change makes no difference to what is promised. */
  readonly survives?: string;
}

export const mutants: readonly Mutant[] = [
  {
    file: "reducers/artifacts.ts",
    by: "artifacts",
    from: "new Set([...current, ...added])",
    to: "new Set([...added, ...current])",
  },
  {
    file: "reducers/artifacts.ts",
    by: "artifacts",
    from: "all.size === current.length ? current : [...all]",
    to: "[...all]",
  },
  {
    file: "reducers/artifacts.ts",
    by: "artifacts",
    from: "seen ??= new Set(initial);",
    to: "seen ??= new Set();",
  },
  {
    file: "reducers/artifacts.ts",
    by: "artifacts",
    from: "if (added.length === 0) return current;",
    to: "",
    survives: "it only saves time: a union with nothing is the same list",
  },
  { file: "reducers/images.ts", by: "viewed_images", from: "changed.length === 0 ? current : ", to: "" },
  {
    file: "reducers/images.ts",
    by: "viewed_images",
    from: "[...Object.entries(current), ...changed]",
    to: "changed",
  },
  {
    file: "reducers/images.ts",
    by: "viewed_images",
    from: "Object.keys(current).length === 0 ? current : {}",
    to: "current",
  },
  {
    file: "reducers/images.ts",
    by: "viewed_images",
    from: 'if (event.type === "ImagesCleared") images = new Map();',
    to: "",
  },
  {
    file: "reducers/images.ts",
    by: "viewed_images",
    from: "!Object.hasOwn(current, path) || ",
    to: "",
    survives:
      "a path that is not there has no image that could be the same, except for names of Object.prototype, whose members are no images",
  },
  {
    file: "reducers/todos.ts",
    by: "todos",
    from: "keepWhenSame(current, data.todos)",
    to: "keepWhenSame(current, [...(current ?? []), ...data.todos])",
  },
  { file: "reducers/todos.ts", by: "todos", from: "keepWhenSame(current, data.todos)", to: "data.todos" },
  {
    file: "reducers/uploads.ts",
    by: "uploaded_files",
    from: "keepWhenSame(current, data.files)",
    to: "current ?? data.files",
  },
  {
    file: "reducers/goal.ts",
    by: "goal",
    from: "keepWhenSame<Goal | undefined>(current, data.goal)",
    to: "data.goal ?? current",
  },
  {
    file: "reducers/thread-data.ts",
    by: "thread_data",
    from: "keepWhenSame<ThreadData | undefined>(current, data)",
    to: "({ ...current, ...data })",
  },
  {
    file: "reducers/structured-response.ts",
    by: "structured_response",
    from: "current, data.value)",
    to: "current, data.value ?? current)",
  },
  { file: "reducers/title.ts", by: "title", from: 'data.origin === "user" || !current', to: "!current" },
  {
    file: "reducers/title.ts",
    by: "title",
    from: 'data.origin === "user" || !current',
    to: 'data.origin === "user" || current == null',
  },
  {
    file: "reducers/promoted-tools.ts",
    by: "promoted",
    from: "current?.catalog_hash !== data.catalogHash",
    to: "current === undefined",
  },
  {
    file: "reducers/promoted-tools.ts",
    by: "promoted",
    from: "names: [...new Set(data.names)]",
    to: "names: data.names",
  },
  {
    file: "reducers/promoted-tools.ts",
    by: "promoted",
    from: "new Set([...current.names, ...data.names])",
    to: "new Set(data.names)",
  },
  {
    file: "reducers/sandbox.ts",
    by: "sandbox",
    from: "if (bound !== next) throw new SandboxConflictError(bound, next);\n  return current;",
    to: "return current;",
  },
  {
    file: "reducers/sandbox.ts",
    by: "sandbox",
    from: "if (bound !== previous) throw new SandboxConflictError(bound, next);",
    to: "",
  },
  {
    file: "reducers/sandbox.ts",
    by: "sandbox",
    from: "if (current && bound === next) return current;",
    to: "",
  },
  {
    file: "reducers/compaction.ts",
    by: "summary_text",
    from: "(_current, data) => data.summary",
    to: "(current, data) => current ?? data.summary",
  },
  {
    file: "reducers/delegations.ts",
    by: "delegations",
    from: "keepWhenSame<Delegations>(current, ",
    to: "(",
  },
  { file: "reducers/skills.ts", by: "skill_context", from: "keepWhenSame<Skills>(current, ", to: "(" },
  {
    file: "reducers/skills.ts",
    by: "skill_context",
    from: 'name: name == null ? "" : String(name)',
    to: "name: name as string",
  },
  {
    file: "reducers/message-list.ts",
    by: "messages",
    from: "throw new UnknownMessageError(id);",
    to: "return 0;",
  },
  {
    file: "reducers/message-list.ts",
    by: "messages",
    from: "if (position === undefined) append(message);",
    to: "if (position !== undefined || position === undefined) append(message);",
  },
  { file: "reducers/message-list.ts", by: "messages", from: "other > order", to: "other < order" },
  {
    file: "reducers/message-list.ts",
    by: "messages",
    from: "position > callerPosition && makesCall",
    to: "makesCall",
  },
  {
    file: "reducers/message-list.ts",
    by: "messages",
    from: "if (find(result.id) !== undefined) return add(result);",
    to: "",
  },
  { file: "reducers/message-list.ts", by: "messages", from: "indexes.delete(base);", to: "" },
  {
    file: "reducers/thread-state.ts",
    by: "state",
    from: "if (changed !== value) next = withField(next, field, changed);",
    to: "next = withField(next, field, changed);",
  },
  {
    file: "reducers/thread-state.ts",
    by: "open fields",
    from: "Object.defineProperty(next, field, { value, enumerable: true, writable: true, configurable: true });",
    to: "next[field] = value;",
  },
  {
    file: "reducers/same-json.ts",
    by: "todos",
    from: "keys.length !== Object.keys(right).length",
    to: "false",
  },
  { file: "reducers/same-json.ts", by: "todos", from: "a.length !== b.length", to: "false" },
  {
    file: "events/hash-chain.ts",
    by: "logs",
    from: "if (event.version !== version + 1) {",
    to: "if (false) {",
  },
  {
    file: "events/hash-chain.ts",
    by: "logs",
    from: "if (event.metadata.previousHash !== hash) {",
    to: "if (false) {",
  },
  {
    file: "events/hash-chain.ts",
    by: "logs",
    from: "sha256(previousHash + canonicalJson(",
    to: "sha256(canonicalJson(",
  },
  {
    file: "events/canonical-json.ts",
    by: "logs",
    from: "if (!text.isWellFormed())",
    to: "if (text.length < 0)",
    survives: "what is recorded has been made well-formed before; this is the second net",
  },
  {
    file: "events/event-registry.ts",
    by: "logs",
    from: "if (schema > definition.version)",
    to: "if (false)",
  },
  { file: "events/event-registry.ts", by: "logs", from: "if (!result.success) {", to: "if (false) {" },
];
