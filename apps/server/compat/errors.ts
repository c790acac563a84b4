import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { InvalidBodyError } from "../json-body.ts";

/** Statuses of errors by name, so that no module is loaded just to recognise its errors. */
const statusByName: Readonly<Record<string, ContentfulStatusCode>> = {
  ThreadBusyError: 409,
  VersionConflict: 409,
  InterruptAnsweredError: 409,
  UnknownInterruptError: 409,
  ThreadHasChildrenError: 409,
  StreamDeletedError: 409,
  RunDroppedError: 409,
  RunPostponedError: 503,
  UnknownFieldError: 422,
  InvalidUpdateError: 422,
  InvalidEventError: 422,
  FoldError: 422,
  ContextError: 422,
  ReservedEventError: 422,
  EventTooLargeError: 413,
  UnsupportedCommandError: 422,
  UnknownMessageTypeError: 422,
  InvalidMessageError: 422,
  NotJsonError: 422,
  NewerSchemaError: 409,
  InvalidNameError: 422,
  InvalidPathError: 422,
  PositionSyntaxError: 422,
  InvalidPositionError: 400,
  UnknownThreadError: 404,
  VersionOutOfRangeError: 404,
  UnknownRunError: 404,
  BlobMissingError: 404,
  AgentClosedError: 503,
  LogUnavailableError: 503,
};

/** The status and text that an error is answered with; what is not known is our fault and says nothing. */
export function describeError(error: unknown): {
  readonly status: ContentfulStatusCode;
  readonly text: string;
} {
  if (error instanceof HTTPException) {
    return { status: error.status as ContentfulStatusCode, text: error.message };
  }
  if (!(error instanceof Error)) return { status: 500, text: "Internal Server Error" };
  const status = statusByName[error.name];
  return status === undefined
    ? { status: 500, text: "Internal Server Error" }
    : { status, text: error.message };
}

/** Answers an error as the reference server does: plain text, or zod's issues for a body that does not fit. */
export function answerError(error: unknown, c: Context): Response {
  if (error instanceof InvalidBodyError) {
    const { issues } = error;
    return c.json({ success: false, error: { issues, name: "ZodError" }, message: error.message }, 400);
  }
  const { status, text } = describeError(error);
  return c.text(text, status);
}
