import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";

/*
 * Benches run as the package is published: as plain JavaScript. The loader of TypeScript gives every function that is
 * made a name of its own, which costs a tenth of a turn.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const outDir = join(root, "bench", "dist");
const builds = new Map<string, Promise<string>>();

async function compile(source: string): Promise<string> {
  const name = basename(source, ".ts");
  await build({
    config: false,
    cwd: root,
    entry: { [name]: source },
    format: "esm",
    platform: "node",
    target: "node20.19",
    fixedExtension: false,
    dts: false,
    clean: false,
    outDir,
    logLevel: "error",
  });
  return join(outDir, `${name}.js`);
}

/** Path of the JavaScript of a TypeScript file under `bench/`, compiled once per process. */
export function compiled(source: URL): Promise<string> {
  const path = fileURLToPath(source);
  const building = builds.get(path) ?? compile(path);
  builds.set(path, building);
  return building;
}

// npx tsx bench/compiled.ts turn [arguments]: compiles bench/turn.ts and runs it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = "", ...rest] = process.argv.slice(2);
  const script = await compiled(new URL(`${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [script, ...rest], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  process.exitCode = typeof code === "number" ? code : 1;
}
