/*
 * A first thread, from its first event to a proof of its last state: npm run quickstart
 * It needs no key and no network. The model is made of rules; tools, events, files and hashes are real.
 */
import { cp, mkdir } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { threadFolders } from "../actors/sandboxes/thread-folders.ts";
import { eventText } from "../apps/cli/event-line.ts";
import { createAgent, createStateReader, openStore, stateHash } from "../index.ts";
import { diffStates } from "../projections/diff.ts";
import { toJsonPatch } from "../projections/json-patch.ts";
import { refold } from "../projections/refold.ts";
import { verifyThread } from "../projections/verify.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const storePath = join(".threadfold", "threads.db");
const request =
  "list the markdown files, then count their words, then write the result to report.md and present it";

function heading(text: string): void {
  console.log(`\n\u25b8 ${text}`);
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

const store = await openStore(`sqlite:${storePath}`);
const agent = createAgent({
  name: "quickstart",
  model: "builtin:planner",
  preset: "harness",
  harness: { todos: { maxReminders: 0 } },
  store,
});
const thread = agent.thread();

heading("A thread gets a folder to work in: the markdown files of this repository");
const { workspace_path: workspace } = threadFolders({ folder: store.folder, threadId: thread.id });
await mkdir(workspace, { recursive: true });
for (const path of ["README.md", "CHANGELOG.md"]) await cp(join(root, path), join(workspace, basename(path)));
console.log(`  ${relative(".", workspace)}`);

heading(`It is asked to: ${request}`);
console.log("  Every step is an event, durable before the next one begins:\n");
const run = thread.run(request);
for await (const item of run) {
  if (item.kind !== "event") continue;
  const { version, type } = item.event;
  console.log(`  ${String(version).padStart(3)}  ${type.padEnd(20)}  ${cut(eventText(item.event), 70)}`);
}
const { version: head, state } = await run.result;

/** After the first tool's result. */
const early = 12;
heading(
  `Any past state is a fold of the events up to it. From version ${early} to ${head} these things changed:`,
);
const patch = toJsonPatch(diffStates(await thread.stateAt(early), state));
const messages = patch.filter(({ path }) => path.startsWith("/messages/"));
console.log(`  ${messages.length} messages were added`);
for (const { op, path, ...rest } of patch.filter((operation) => !messages.includes(operation))) {
  const value = "value" in rest ? JSON.stringify(rest.value) : "";
  console.log(`  ${op.padEnd(7)} ${path.padEnd(28)} ${cut(value, 60)}`);
}

heading(`The thread goes back to version ${early}. What came after it stays in the log:`);
const { log, blobs, side } = store;
const { reducer, registry } = agent;
const countOf = (some: typeof state) => (some.messages as readonly unknown[]).length;
const { version: rewound } = await thread.rewind({ to: early, reason: "quickstart" });
console.log(
  `  messages before: ${countOf(state)}, now: ${countOf(await thread.state())}, at @${head}: ${countOf(await thread.stateAt(head))}`,
);

heading("Another thread begins from the same past, without copying it, and goes its own way:");
const fork = await thread.fork({ at: early });
const forked = await fork.run("calculate 6 * 7").result;
const answer = (forked.state.messages as readonly { content: unknown }[]).at(-1)?.content;
console.log(`  ${fork.id}: ${String(answer).split("\n").at(-1)}`);

heading("Each event carries the hash of the one before it, so a changed byte shows:");
for (const id of [thread.id, fork.id]) {
  const verified = await verifyThread({ log, blobs, side, reducer, registry }, id);
  const { version, events, problems } = verified;
  const verdict = problems.length === 0 ? "ok" : problems.map(({ message }) => message).join("; ");
  console.log(`  ${id}@${version}: ${events} events and ${verified.blobs} blobs, ${verdict}`);
}

heading("The whole thread is folded again from its first event, and gives the same state:");
const again = await refold(log, { reducer, registry }, `thread-${thread.id}`, head);
const reader = createStateReader({ log, side, reducer, registry });
const seen = stateHash(await reader.stateAt(thread.id, head));
console.log(`  during the run ${stateHash(state).slice(0, 16)}`);
console.log(`  read again     ${seen.slice(0, 16)}`);
console.log(`  refolded       ${again.stateHash.slice(0, 16)}  (${again.events} events)`);
if (seen !== again.stateHash || seen !== stateHash(state))
  throw new Error("The states differ: please report this.");

await agent.close();
await store.close();

const short = thread.id.slice(0, 18);
heading("The log is yours:");
console.log(`  ${storePath}

  Try next:
    npx tsx apps/cli/main.ts threads
    npx tsx apps/cli/main.ts events ${short}
    npx tsx apps/cli/main.ts diff ${short}@${early} @${rewound - 1}
    npx tsx apps/cli/main.ts export ${short} > thread.ndjson
    npx tsx apps/cli/main.ts run "list the markdown files" --files docs`);
