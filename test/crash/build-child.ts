import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));
const crashChild = fileURLToPath(new URL("./child.ts", import.meta.url));

/**
 * Bundles a script into one file, so that it starts in a fraction of the time: there is one start for each kill. The
 * folder lies in `node_modules`, where its native module is found; remove it afterwards.
 *
 * @returns the folder and the script in it
 */
export async function buildChild(child = crashChild): Promise<{ folder: string; script: string }> {
  const folder = await mkdtemp(join(root, "node_modules", ".crash-child-"));
  await build({
    root,
    configFile: false,
    logLevel: "error",
    ssr: {
      noExternal: true,
      external: ["@photostructure/sqlite", "@kurrent/kurrentdb-client", "@eventstore/db-client", "pg"],
    },
    build: {
      ssr: child,
      outDir: folder,
      emptyOutDir: true,
      rollupOptions: { output: { entryFileNames: "child.mjs" } },
    },
  });
  return { folder, script: join(folder, "child.mjs") };
}
