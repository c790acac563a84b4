import { defineEvent } from "./define-event.ts";

/** Deferred tools became callable. Names of another catalogue replace those before. */
export const ToolsPromoted = defineEvent({
  type: "ToolsPromoted",
  schema: (z) => z.object({ catalogHash: z.string(), names: z.array(z.string()) }),
});
