import { describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import { defineProjection, type ProjectionHandler } from "../../projections/define-projection.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { checkProjection, ProjectionBrokenError } from "../../testing/check-projection.ts";

const source = { reducer: createThreadReducer({ openFields: true }), registry: createEventRegistry() };

describe("checkProjection", () => {
  test.each(builtInProjections.map((projection) => [projection.name, projection] as const))(
    "%s runs along, goes on and is built again to the same rows",
    (_name, projection) => checkProjection(projection, source, { runs: 15 }),
  );

  let kept = 0;
  const wrong: Readonly<Record<string, ProjectionHandler<Record<string, unknown>, unknown>>> = {
    "a row that is changed in place": (rows) => {
      const row = rows.get("runs") ?? { count: 0 };
      row.count = (row.count as number) + 1;
      rows.put("runs", row);
    },
    "a number that is kept beside the rows": (rows) => rows.put("runs", { count: ++kept }),
    "a Set in a row": (rows) => rows.put("runs", { ids: new Set(["a"]) }),
    "a clock": (rows) => rows.put("runs", { at: performance.now() }),
  };

  test.each(Object.entries(wrong))("finds %s", (_name, handler) => {
    const handlers = Object.fromEntries([["RunStarted", handler]]);
    const projection = defineProjection({ name: "runs", version: 1, handlers });
    expect(() => checkProjection(projection, source)).toThrow(ProjectionBrokenError);
  });

  test("the seed and the path of the report lead to the same events", () => {
    const projection = defineProjection({
      name: "last-end",
      version: 1,
      handlers: Object.fromEntries([["RunCompleted", wrong["a clock"]]]),
    });
    const caught = (options: { seed?: number; path?: string }) => {
      try {
        checkProjection(projection, source, options);
      } catch (error) {
        if (error instanceof ProjectionBrokenError) return error;
      }
      throw new Error("not found");
    };
    const first = caught({ seed: 5 });
    const path = /path: "([^"]+)"/.exec(first.message)?.[1] ?? "";
    expect(caught({ seed: 5, path }).events).toEqual(first.events);
  });
});
