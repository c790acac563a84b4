import { z } from "zod";

/** Which part of a long value is asked for. */
export const outlinePage = {
  pointer: z
    .string()
    .max(4_000)
    .regex(/^(?:\/.*)?$/s, "must be a JSON Pointer: empty, or beginning with /")
    .default(""),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
};

export const outlineSchema = z.looseObject({ kind: z.string(), size: z.number().int() });
