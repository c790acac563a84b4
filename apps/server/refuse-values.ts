import { HTTPException } from "hono/http-exception";
import { privateFields } from "../../actors/middleware/thread-data.ts";

/** Fields that every client shows as text. */
const textFields = ["title", "summary_text"];

/**
 * Values of fields as clients may write them: none that holds paths of this machine, which the runtime alone writes,
 * and a text or null where clients show a text.
 *
 * @throws {HTTPException} 422
 */
export function refuseValues(values: unknown): void {
  if (typeof values !== "object" || values === null) return;
  const field = Object.keys(values).find((key) => key.startsWith("$") || privateFields.includes(key));
  if (field !== undefined) {
    throw new HTTPException(422, {
      message: `The field "${field.slice(0, 80)}" is written by the server alone. Leave it out.`,
    });
  }
  for (const [key, value] of Object.entries(values)) {
    if (!textFields.includes(key) || value === null || typeof value === "string") continue;
    throw new HTTPException(422, { message: `The field "${key}" takes a text or null.` });
  }
}
