import { writeSync } from "node:fs";
import { createRequire, register } from "node:module";

/*
 * Preloaded into a process whose loaded files are to be known: they are written to its standard error, one a line. ES
 * modules are seen by a hook, CommonJS modules are in the cache of `require`.
 */
register(new URL("record-modules-hook.js", import.meta.url));
process.on("exit", () => {
  for (const path of Object.keys(createRequire(import.meta.url).cache))
    writeSync(2, `loaded file://${path}\n`);
});
