import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The suites of `npm run contract -- <url>`: they need a server, so they are no part of `npm test`. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/contract/on-server.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", "./test/closing-line-reporter.ts"],
  },
});
