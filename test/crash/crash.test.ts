import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildChild } from "./build-child.ts";
import { crashChain } from "./crash-chain.ts";

/** `npm run crash` asks for more. */
const kills = Number(process.env.CRASH_KILLS ?? 50);
/** Kills on one store; then a new one is begun, so that the checks stay quick. */
const killsPerStore = 13;

const stores = Math.ceil(kills / killsPerStore);
let child: { folder: string; script: string };

beforeAll(async () => {
  child = await buildChild();
}, 120_000);

afterAll(() => rm(child.folder, { recursive: true, force: true }));

describe("a process that is killed at a random moment", () => {
  test.concurrent.each(Array.from({ length: stores }, (_, index) => index))(
    "loses nothing that was acknowledged and does nothing twice (store %i)",
    async (index) => {
      const here = Math.min(killsPerStore, kills - index * killsPerStore);
      const report = await crashChain({ script: child.script, kills: here, random: Math.random });
      expect(report.problems).toEqual([]);
      expect(report.kills).toBe(here);
      expect(report.acknowledged).toBeGreaterThan(0);
    },
    600_000,
  );

  test("two processes on one store: the same holds", async () => {
    const report = await crashChain({ script: child.script, kills: 6, writers: 2, random: Math.random });
    expect(report.problems).toEqual([]);
    expect(report.acknowledged).toBeGreaterThan(0);
  }, 600_000);
});
