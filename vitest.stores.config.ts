import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const real = fileOf("./test/stores/redirected/open-real-store.ts");
const openStore = fileOf("./events/open-store.ts");
const memoryLog = fileOf("./events/log/memory.ts");
const tests = fileOf("./test/");

/** The suites open their stores with `memory:`: here they get a new one of the kind under test instead. */
const redirect: Plugin = {
  name: "stores-under-test",
  enforce: "pre",
  async resolveId(source, importer, options) {
    if (!importer || importer === real || !source.startsWith(".")) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    if (found?.id === openStore) return real;
    if (found?.id === memoryLog && importer.startsWith(tests)) return real;
    return null;
  },
};

/** `STORE_UNDER_TEST=postgres npx vitest run --config vitest.stores.config.ts` */
export default defineConfig({
  plugins: [redirect],
  test: {
    include: [
      "test/actors/**/*.test.ts",
      "test/projections/**/*.test.ts",
      "test/server/{client-methods,multitask,native,state-and-list,streams}.test.ts",
    ],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    globalSetup: ["./test/stores/redirected/start-server.ts"],
    setupFiles: ["./test/fast-check-setup.ts"],
    reporters: ["default"],
  },
});
