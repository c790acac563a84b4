import { defineEvent } from "./define-event.ts";

/** Output files were presented to the user, as virtual paths in order of presentation. */
export const ArtifactsPresented = defineEvent({
  type: "ArtifactsPresented",
  schema: (z) => z.object({ paths: z.array(z.string()) }),
  content: ["paths"],
});
