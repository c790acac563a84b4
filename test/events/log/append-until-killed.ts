import { writeSync } from "node:fs";
import { openStore } from "../../../events/open-store.ts";
import { newEvents } from "./new-events.ts";

/*
 * Appends batches of three to several threads at once and prints each acknowledgement, until it is killed. The line
 * is written synchronously: what was printed was acknowledged before.
 */
const [url, threads, synchronous] = process.argv.slice(2);
const store = await openStore(url, { synchronous: synchronous === "normal" ? "normal" : "full" });

async function run(stream: string): Promise<void> {
  let { version } = await store.log.head(stream);
  for (;;) {
    ({ version } = await store.log.append(stream, newEvents(3), { expectedVersion: version }));
    writeSync(1, `${stream} ${version}\n`);
  }
}

await Promise.all(Array.from({ length: Number(threads) }, (_, index) => run(`thread-${index}`)));
