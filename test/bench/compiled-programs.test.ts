import { expect, test } from "vitest";
import { builtPackage } from "../../bench/build.ts";
import { runChild } from "../../bench/run-child.ts";

test("building the package leaves the compiled programs of other tables where they are", async () => {
  expect((await runChild({ side: "bare", turns: 10 })).bytes).toBeGreaterThan(0);
  await builtPackage();
  expect((await runChild({ side: "prototype", turns: 10 })).bytes).toBeGreaterThan(0);
}, 120_000);
