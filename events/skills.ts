import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const skillSchema = lazySchema((z) => z.looseObject({ path: z.string().optional() }));

/** Skill descriptions were read into the conversation. */
export const SkillsLoaded = defineEvent({
  type: "SkillsLoaded",
  schema: (z) => z.object({ entries: z.array(skillSchema()) }),
});
