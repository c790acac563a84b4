import { startEventStoreDouble } from "./server.ts";

/*
 * The double in a process of its own: `tsx serve.ts` prints its URL, and ends with its standard input.
 */
const double = await startEventStoreDouble();
process.stdout.write(`${double.url}\n`);
process.stdin.resume().once("end", () => process.exit());
