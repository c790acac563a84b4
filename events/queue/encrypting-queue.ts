import { threadStream } from "../envelope.ts";
import type { Json } from "../json.ts";
import { decrypt, encrypt, purposeKey } from "../keys/content-key.ts";
import type { ThreadKeys } from "../keys/thread-keys.ts";
import type { QueuedRun, RunQueue } from "./run-queue.ts";

/** What is read in place of a request whose key was destroyed, with the thread's content. */
const erased: Json = null;

/** Encrypts what queued runs are given with the key of their thread. */
export function createEncryptingQueue(inner: RunQueue, keys: ThreadKeys): RunQueue {
  const open = async <Run extends QueuedRun>(run: Run): Promise<Run> => {
    // Queued before the store was encrypted.
    if (typeof run.request !== "string") return run;
    const found = await keys.find(threadStream(run.threadId));
    if (found === undefined || found === "destroyed") return { ...run, request: erased };
    const secret = purposeKey(found.key, "queue");
    const plain = decrypt(secret, Buffer.from(run.request, "base64"), run.runId);
    return { ...run, request: JSON.parse(plain.toString()) as Json };
  };

  return {
    ...inner,
    async add(run) {
      const { key } = await keys.ensure(threadStream(run.threadId));
      const plain = Buffer.from(JSON.stringify(run.request));
      const request = encrypt(purposeKey(key, "queue"), plain, run.runId).toString("base64");
      await inner.add({ ...run, request });
    },
    claim: async (options) => Promise.all((await inner.claim(options)).map(open)),
    list: async (limit) => Promise.all((await inner.list(limit)).map(open)),
  };
}
