import { STATUS_CODES } from "node:http";
import type { Context } from "hono";
import { describeError } from "../compat/errors.ts";
import { InvalidBodyError } from "../json-body.ts";

/** The thread is not at the version that `If-Match` names. Nothing was recorded. */
export class PreconditionFailedError extends Error {
  override readonly name = "PreconditionFailedError";
  constructor(
    readonly expected: number,
    readonly actual: number,
  ) {
    super(`The thread is at version ${actual}, not at ${expected}. Read what is new and try again.`);
  }
}

/** Answers an error as `application/problem+json` (RFC 9457). */
export function answerProblem(error: unknown, c: Context): Response {
  const { status, text } =
    error instanceof InvalidBodyError
      ? { status: 400, text: error.message }
      : error instanceof PreconditionFailedError
        ? { status: 412, text: error.message }
        : describeError(error);
  const isNamed = error instanceof Error && error.name !== "Error" && status < 500;
  const title = isNamed ? error.name : (STATUS_CODES[status] ?? "Error");
  const problem = {
    type: `https://threadfold.dev/problems/${kebab(title)}`,
    title,
    status,
    detail: text,
    ...(error instanceof InvalidBodyError && { issues: error.issues }),
  };
  const headers = { "Content-Type": "application/problem+json" };
  return c.body(JSON.stringify(problem), status as 400, headers);
}

function kebab(name: string): string {
  return name
    .replace(/\s+/g, "-")
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase();
}

/**
 * The version that `If-Match` names: `"12"`, `12` or `"<thread>@12"`; undefined: any.
 *
 * @throws {InvalidBodyError} it names no version
 */
export function expectedVersionOf(c: Context): number | undefined {
  const header = c.req.header("if-match");
  if (header === undefined || header === "*") return undefined;
  const version = /^(?:W\/)?"?(?:[^"@]*@)?(\d{1,12})"?$/.exec(header)?.[1];
  if (version === undefined)
    throw new InvalidBodyError([{ path: ["If-Match"], message: "must be a version" }]);
  return Number(version);
}
