import { type TableInfo, type TableState, tableName } from "./projection-store.ts";

/** Columns of the list of tables, the id first, in the order that `tableInfo` takes them. */
export const tableColumns = "id, name, version, build, state, checkpoint, begins_after, events, revision";

/** One row of the list of tables, as a driver gives it. */
export function tableInfo(row: readonly unknown[]): TableInfo {
  const [, name, version, build, state, checkpoint, from, events, revision] = row;
  return {
    table: tableName(String(name), Number(version), Number(build)),
    name: String(name),
    version: Number(version),
    build: Number(build),
    state: state as TableState,
    checkpoint: (checkpoint as string | null) ?? undefined,
    events: Number(events),
    revision: Number(revision),
    from: (from as string | null) ?? undefined,
  };
}
