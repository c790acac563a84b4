import { z } from "zod";
import { defineEvent } from "./define-event.ts";

const skillSchema = z.looseObject({ path: z.string().optional() });

/** Skill descriptions were read into the conversation. */
export const SkillsLoaded = defineEvent({
  type: "SkillsLoaded",
  schema: z.object({ entries: z.array(skillSchema) }),
});
