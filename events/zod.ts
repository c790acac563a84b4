import { createRequire } from "node:module";
import type { z } from "zod";

/** zod's builders, as whoever makes a schema later is given them. */
export type Zod = typeof z;

let loaded: Zod | undefined;

/** zod, which is loaded when the first schema is made: who only reads a log needs none. */
export function zod(): Zod {
  loaded ??= (createRequire(import.meta.url)("zod") as { z: Zod }).z;
  return loaded;
}

/**
 * A schema that is made when it is asked for the first time, and once.
 *
 * @example
 * const pathSchema = lazySchema((z) => z.string().startsWith("/"));
 * pathSchema().parse("/mnt");
 */
export function lazySchema<Schema>(make: (z: Zod) => Schema): () => Schema {
  let made: { readonly schema: Schema } | undefined;
  return () => {
    made ??= { schema: make(zod()) };
    return made.schema;
  };
}
