import type { CommandModule } from "./command-module.ts";

/** A command as `--help` lists it. Its module is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

/** All commands, in the order of the help. */
export const commandTable: readonly CommandEntry[] = [
  { name: "run", summary: "run an agent on a thread", load: () => import("./commands/run.ts") },
  { name: "resume", summary: "answer what a thread waits for", load: () => import("./commands/resume.ts") },
  {
    name: "worker",
    summary: "run what was queued, beside other workers",
    load: () => import("./commands/worker.ts"),
  },
  {
    name: "queue",
    summary: "show runs that wait for a worker",
    load: () => import("./commands/queue.ts"),
  },
  { name: "serve", summary: "serve agents over HTTP", load: () => import("./commands/serve.ts") },
  { name: "open", summary: "show an exported file in the browser", load: () => import("./commands/open.ts") },
  { name: "threads", alias: "ls", summary: "list threads", load: () => import("./commands/threads.ts") },
  { name: "events", summary: "show or follow a thread's events", load: () => import("./commands/events.ts") },
  {
    name: "state",
    summary: "show a thread's state at any version",
    load: () => import("./commands/state.ts"),
  },
  { name: "diff", summary: "compare the states of two versions", load: () => import("./commands/diff.ts") },
  {
    name: "replay",
    summary: "refold a thread, or run its hooks again",
    load: () => import("./commands/replay.ts"),
  },
  {
    name: "blame",
    summary: "show which events changed a field",
    load: () => import("./commands/blame.ts"),
  },
  {
    name: "watch-path",
    summary: "show a path's value over all versions",
    load: () => import("./commands/watch-path.ts"),
  },
  {
    name: "seen",
    summary: "show exactly what a model was given",
    load: () => import("./commands/seen.ts"),
  },
  {
    name: "what-if",
    summary: "do a run otherwise in a fork, and compare",
    load: () => import("./commands/what-if.ts"),
  },
  {
    name: "regenerate",
    summary: "ask for another answer, or edit the question",
    load: () => import("./commands/regenerate.ts"),
  },
  { name: "heads", summary: "name versions of a thread", load: () => import("./commands/heads.ts") },
  { name: "fork", summary: "start a new thread from a version", load: () => import("./commands/fork.ts") },
  { name: "rewind", summary: "take a thread back to a version", load: () => import("./commands/rewind.ts") },
  { name: "verify", summary: "check hashes, states and blobs", load: () => import("./commands/verify.ts") },
  { name: "export", summary: "write threads as NDJSON", load: () => import("./commands/export.ts") },
  {
    name: "import",
    summary: "read NDJSON or a LangGraph thread",
    load: () => import("./commands/import.ts"),
  },
  {
    name: "copy",
    summary: "copy or mirror a whole store to another",
    load: () => import("./commands/copy.ts"),
  },
  {
    name: "fuzz",
    summary: "hold reducers to their laws on generated events",
    load: () => import("./commands/fuzz.ts"),
  },
  {
    name: "trace",
    summary: "show what a run did, and what caused it",
    load: () => import("./commands/trace.ts"),
  },
  {
    name: "branches",
    summary: "show a thread's rewinds and forks",
    load: () => import("./commands/branches.ts"),
  },
  {
    name: "projections",
    summary: "show or run the read models",
    load: () => import("./commands/projections.ts"),
  },
  {
    name: "rebuild",
    summary: "build read models anew beside the old",
    load: () => import("./commands/rebuild.ts"),
  },
  { name: "redact", summary: "take content out by a rule", load: () => import("./commands/redact.ts") },
  {
    name: "erase",
    summary: "destroy a thread's content for good",
    load: () => import("./commands/erase.ts"),
  },
  {
    name: "archive",
    summary: "write a thread to a file, or restore it",
    load: () => import("./commands/archive.ts"),
  },
  { name: "sign", summary: "sign a thread's head, or check it", load: () => import("./commands/sign.ts") },
  { name: "machine", summary: "show the lifecycle of a thread", load: () => import("./commands/machine.ts") },
  {
    name: "config",
    summary: "show the settings and where they come from",
    load: () => import("./commands/config.ts"),
  },
  { name: "doctor", summary: "check this installation", load: () => import("./commands/doctor.ts") },
];
