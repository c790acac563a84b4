import { HTTPException } from "hono/http-exception";
import { privateFields } from "../../actors/middleware/thread-data.ts";

/**
 * Fields that hold paths of this machine are written by the runtime alone.
 *
 * @throws {HTTPException} 422
 */
export function refusePrivate(values: unknown): void {
  if (typeof values !== "object" || values === null) return;
  const field = Object.keys(values).find((key) => key.startsWith("$") || privateFields.includes(key));
  if (field === undefined) return;
  throw new HTTPException(422, {
    message: `The field "${field.slice(0, 80)}" is written by the server alone. Leave it out.`,
  });
}
