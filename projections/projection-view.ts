import type { Projection } from "./define-projection.ts";
import type { ProjectionStore, RowQuery } from "./projection-store.ts";

/** One row of a list; hand `cursor` to `after` for the page behind it. */
export interface ViewRow<Row> {
  readonly key: string;
  readonly row: Row;
  readonly cursor: { readonly order: string; readonly key: string };
}

/** The live rows of a projection, for readers. */
export interface ProjectionView<Row> {
  get(key: string): Promise<Row | undefined>;
  list(query?: RowQuery): Promise<readonly ViewRow<Row>[]>;
  count(query?: Omit<RowQuery, "after" | "limit">): Promise<number>;
}

/**
 * Reads the live rows of a projection, also while a rebuild goes on beside them. Each call throws
 * `ProjectionTableMissingError` when the projection was never started on this store.
 *
 * @example
 * const threads = viewOf(projectionStore, threadList);
 * await threads.list({ search: "报告", limit: 20 });
 */
export function viewOf<Row>(store: ProjectionStore, projection: Projection<Row>): ProjectionView<Row> {
  const { name } = projection;
  return {
    get: async (key) => (await store.get(name, [key])).get(key) as Row | undefined,
    async list(query) {
      const rows = await store.list(name, query);
      return rows.map(({ key, value, order }) => ({ key, row: value as Row, cursor: { order, key } }));
    },
    count: (query) => store.count(name, query),
  };
}
