import type { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const delegationSchema = lazySchema((z) =>
  z.looseObject({ id: z.string().min(1), status: z.string().min(1) }),
);
export type Delegation = z.infer<ReturnType<typeof delegationSchema>>;

/** Work handed to sub-agents changed its status. */
export const DelegationsRecorded = defineEvent({
  type: "DelegationsRecorded",
  schema: (z) => z.object({ entries: z.array(delegationSchema()) }),
  content: ["entries"],
});
