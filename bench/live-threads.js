import { createAgent, openStore } from "./dist/package/index.js";

// A process that knows many threads and holds some of them live; prints its resident memory. Plain JavaScript on the
// built package, since a loader of TypeScript has memory of its own.
const [url, known, live, turns] = process.argv.slice(2);
const emptyBytes = process.memoryUsage.rss();
const store = await openStore(url);
const agent = createAgent({ model: "builtin:planner", store, idleMs: 3_600_000 });
const at = new Date().toISOString();

/** One thread as a run with a question leaves it. */
async function writeThread(index) {
  const stream = `thread-known-${index}`;
  const events = Array.from({ length: Number(turns) }, (_, turn) => {
    const id = crypto.randomUUID();
    const message = {
      id,
      type: turn % 2 ? "ai" : "human",
      content: `Message ${turn} of thread ${index}. `.repeat(10),
    };
    const metadata = { schema: 1, by: "user", causationId: id, correlationId: id };
    return { id, type: "MessagesAdded", data: { messages: [message] }, recordedAt: at, metadata };
  });
  await store.log.append(stream, events, { expectedVersion: "no-stream" });
}

const waiting = Array.from({ length: Number(known) }, (_, index) => index);
async function writer() {
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) await writeThread(index);
}
await Promise.all(Array.from({ length: 256 }, writer));
globalThis.gc?.();
const knownBytes = process.memoryUsage.rss();
for (let index = 0; index < Number(live); index++) await agent.thread(`known-${index}`).state();
globalThis.gc?.();
console.log(JSON.stringify({ emptyBytes, knownBytes, liveBytes: process.memoryUsage.rss() }));
await agent.close();
await store.close();
