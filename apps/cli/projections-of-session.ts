import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { AnyProjection } from "../../projections/define-projection.ts";
import type { ProjectionStore } from "../../projections/projection-store.ts";
import type { Session } from "./session.ts";
import { FileNotFoundError, UsageError } from "./usage-error.ts";

function isProjection(value: unknown): value is AnyProjection {
  return typeof value === "object" && value !== null && "handlerFor" in value && "name" in value;
}

/**
 * The built-in projections, and those that a TypeScript or JavaScript file exports.
 *
 * @throws {FileNotFoundError} @throws {UsageError}
 */
export async function knownProjections(file: string | undefined): Promise<readonly AnyProjection[]> {
  const { builtInProjections } = await import("../../projections/built-in.ts");
  if (file === undefined) return builtInProjections;
  if (!existsSync(file)) throw new FileNotFoundError(file);
  const { createJiti } = await import("jiti");
  const module = await createJiti(import.meta.url).import<Record<string, unknown>>(pathToFileURL(file).href);
  const own = Object.values(module)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isProjection);
  if (own.length === 0) {
    throw new UsageError(`${file} exports no projection. Export what defineProjection returns.`);
  }
  const names = new Set(own.map(({ name }) => name));
  return [...builtInProjections.filter(({ name }) => !names.has(name)), ...new Set(own)];
}

/** The rows beside the store, closed with the command. */
export async function projectionRows(session: Session): Promise<ProjectionStore> {
  const { openProjectionStore } = await import("../../projections/open-projections.ts");
  const rows = await openProjectionStore(await session.store());
  session.onEnd(() => rows.close());
  return rows;
}
