import { fileURLToPath } from "node:url";
import { build } from "tsdown";

const outDir = fileURLToPath(new URL("dist", import.meta.url));
let building: Promise<unknown> | undefined;

/**
 * The package as it is published, built from this tree once per run: what starts must not be measured through a loader
 * of TypeScript. Gives the URL of the folder.
 */
export async function builtPackage(): Promise<URL> {
  building ??= build({
    config: false,
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    entry: { index: "index.ts", cli: "apps/cli/main.ts" },
    format: "esm",
    platform: "node",
    target: "node20.19",
    fixedExtension: false,
    dts: false,
    outDir,
    logLevel: "error",
  });
  await building;
  return new URL("dist/", import.meta.url);
}
