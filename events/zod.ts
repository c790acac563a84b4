import { z } from "zod";

/** zod's builders, as whoever makes a schema later is given them. */
export type Zod = typeof z;

/**
 * A schema that is made when it is asked for the first time, and once: who only reads a log makes none.
 *
 * @example
 * const pathSchema = lazySchema((z) => z.string().startsWith("/"));
 * pathSchema().parse("/mnt");
 */
export function lazySchema<Schema>(make: (builders: Zod) => Schema): () => Schema {
  let made: { readonly schema: Schema } | undefined;
  return () => {
    made ??= { schema: make(z) };
    return made.schema;
  };
}
