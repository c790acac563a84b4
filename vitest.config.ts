import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "test/**/*.test.tsx"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    setupFiles: ["./test/fast-check-setup.ts"],
    reporters: ["default", "./test/closing-line-reporter.ts"],
  },
});
