import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";
import { packageChunks } from "../package-chunks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
let building: Promise<URL> | undefined;

/** Builds the package as it is published, without its types, into a folder from which its dependencies can be found. */
export async function buildPackage(folder: URL): Promise<URL> {
  await build({
    config: false,
    cwd: root,
    entry: { index: "index.ts", cli: "apps/cli/main.ts" },
    format: "esm",
    platform: "node",
    target: "node20.19",
    fixedExtension: false,
    outputOptions: { codeSplitting: packageChunks(join(root, "index.ts")) },
    dts: false,
    outDir: fileURLToPath(folder),
    logLevel: "error",
  });
  return folder;
}

/**
 * The package as it is published, built from this tree once per run: what starts must not be measured through a loader
 * of TypeScript. Gives the URL of the folder.
 */
export function builtPackage(): Promise<URL> {
  building ??= buildPackage(new URL("dist/package/", import.meta.url));
  return building;
}
