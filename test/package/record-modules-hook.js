import { writeSync } from "node:fs";

export async function load(url, context, nextLoad) {
  // Written at once: a message to the main thread could come after its end.
  writeSync(2, `loaded ${url}\n`);
  return nextLoad(url, context);
}
