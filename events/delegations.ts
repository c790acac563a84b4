import { z } from "zod";
import { defineEvent } from "./define-event.ts";

const delegationSchema = z.looseObject({ id: z.string().min(1), status: z.string().min(1) });
export type Delegation = z.infer<typeof delegationSchema>;

/** Work handed to sub-agents changed its status. */
export const DelegationsRecorded = defineEvent({
  type: "DelegationsRecorded",
  schema: z.object({ entries: z.array(delegationSchema) }),
  content: ["entries"],
});
