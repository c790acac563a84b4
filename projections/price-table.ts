import { z } from "zod";
import type { PriceTable } from "./prices.ts";

const perMillion = z.number().nonnegative();

/** A price table as people write it down: in a file, in the settings of a server. */
export const priceTableSchema = z.object({
  currency: z.string().min(1),
  models: z.record(
    z.string(),
    z.object({
      inputPerMillion: perMillion,
      outputPerMillion: perMillion,
      cachedInputPerMillion: perMillion.optional(),
    }),
  ),
}) as unknown as z.ZodType<PriceTable, PriceTable>;
