import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as kurrentdb from "../../events/log/kurrentdb.ts";
import * as postgres from "../../events/log/postgres.ts";
import * as main from "../../index.ts";
import * as testing from "../../testing/index.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const layers = ["events", "reducers", "projections", "actors", "testing"];

/** Thrown and caught inside of the package; no caller meets them. */
const inner = new Set([
  // The planner turns them into what it answers.
  "ArithmeticError",
  "StepFailed",
  // The reference of the fuzz kit says no with it, and is compared with what the runtime says.
  "ReferenceRefusal",
]);

const declared = layers
  .flatMap((layer) =>
    readdirSync(join(root, layer), { recursive: true, encoding: "utf8" }).map((path) => join(layer, path)),
  )
  .filter((path) => path.endsWith(".ts"))
  .flatMap((path) => {
    const found = readFileSync(join(root, path), "utf8").matchAll(/^export class (\w+) extends \w*Error\b/gm);
    return [...found].map(([, name = ""]) => name);
  });

test("every error that a caller may meet is exported, so that it can be told apart", () => {
  const exported = new Set([main, testing, kurrentdb, postgres].flatMap((entry) => Object.keys(entry)));
  expect(declared.length).toBeGreaterThan(100);
  expect(declared.filter((name) => !exported.has(name) && !inner.has(name))).toEqual([]);
  expect([...inner].filter((name) => exported.has(name) || !declared.includes(name))).toEqual([]);
});
