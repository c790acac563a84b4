import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "tsdown";
import { build as buildWithVite } from "vite";
import { packageChunks } from "./package-chunks.ts";

/** Name of the file in `dist` → the source it is built from. `package.json` exports the same names. */
const entryPoints = {
  index: "index.ts",
  testing: "testing/index.ts",
  kurrentdb: "events/log/kurrentdb.ts",
  postgres: "events/log/postgres.ts",
  server: "apps/server/index.ts",
  cli: "apps/cli/main.ts",
};

const present = Object.fromEntries(Object.entries(entryPoints).filter(([, source]) => existsSync(source)));
const complete = Object.keys(present).length === Object.keys(entryPoints).length;

export default defineConfig({
  entry: present,
  format: "esm",
  platform: "node",
  target: "node20.19",
  dts: true,
  sourcemap: true,
  fixedExtension: false,
  outputOptions: { codeSplitting: packageChunks(entryPoints.index) },
  // Both checkers compare the exports of package.json with dist, so they only make sense on a whole tree.
  publint: complete,
  attw: complete && { profile: "esm-only", level: "error" },
  async onSuccess() {
    if (!existsSync("apps/web/vite.config.ts")) return;
    await buildWithVite({
      root: "apps/web",
      configFile: resolve("apps/web/vite.config.ts"),
      build: { outDir: resolve("dist/web"), emptyOutDir: true },
    });
  },
});
