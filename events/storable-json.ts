/// <reference lib="es2024.string" />
import { NotJsonError } from "./canonical-json.ts";
import type { Json } from "./json.ts";

/** Deepest nesting of a storable value; a value that contains itself exceeds it. */
const maxDepth = 500;

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  // The plain objects of another realm, such as a vm context.
  return Object.getPrototypeOf(prototype as object) === null && !("toJSON" in value);
}

/** The common case, without the cost of paths and copies. */
function isStorable(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "boolean":
      return true;
    case "object": {
      if (value === null) return true;
      if (depth > maxDepth) return false;
      if (Array.isArray(value)) {
        // By index: `every` would step over the holes of a sparse array.
        for (let index = 0; index < value.length; index++) {
          if (!isStorable(value[index], depth + 1)) return false;
        }
        return true;
      }
      if (!isPlainObject(value)) return false;
      for (const key of Object.keys(value)) {
        if (!key.isWellFormed() || !isStorable((value as Record<string, unknown>)[key], depth + 1))
          return false;
      }
      return true;
    }
    default:
      return false;
  }
}

function refuse(path: readonly (string | number)[], reason: string): never {
  const shown = path.length > 12 ? [...path.slice(0, 12), "…"] : path;
  const where = path.length === 0 ? "The value" : `The value at ${shown.join(".")}`;
  throw new NotJsonError(`${where} ${reason}. Nothing was written; record plain JSON data.`);
}

function storableCopy(value: unknown, path: readonly (string | number)[]): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) refuse(path, `is ${value}`);
    return value === 0 ? 0 : value;
  }
  if (typeof value !== "object") return refuse(path, `is of type ${typeof value}`);
  if (path.length > maxDepth) refuse(path, `contains itself, or is nested over ${maxDepth} levels deep`);
  if (Array.isArray(value)) {
    return Array.from(value as unknown[], (element, index) => storableCopy(element, [...path, index]));
  }
  if (!isPlainObject(value))
    refuse(path, `is a ${value.constructor?.name ?? "class instance"}, not a plain object`);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key.toWellFormed(), storableCopy(member, [...path, key])]),
  );
}

/**
 * The form of a value that every store gives back as it went in: the value itself when it is plain JSON already.
 * Halves of surrogate pairs become U+FFFD, `-0` becomes `0`, keys whose value is undefined are left out as
 * `JSON.stringify` does. Everything else without a JSON form is refused.
 *
 * @throws {NotJsonError} NaN, infinities, bigints, functions, symbols, undefined in arrays, dates, maps and other
 * class instances, and values that contain themselves. The message names the path.
 * @example
 * storableJson({ text: "half \ud83d", gone: undefined }); // { text: "half \ufffd" }
 */
export function storableJson(value: unknown): Json {
  return isStorable(value, 0) ? (value as Json) : storableCopy(value, []);
}
