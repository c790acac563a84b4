import type { Emitter } from "../../events/envelope.ts";
import type { RunInput } from "../agent-contract.ts";
import { externalize } from "../externalize.ts";
import { isBaseMessage } from "../langchain.ts";
import { toStoredList } from "../messages/to-stored.ts";
import type { AttributedDraft, StepContext } from "./step-contract.ts";
import { updateToDrafts } from "./updates.ts";

/**
 * Events for what a run is given: a text is a message of the user; messages are added (one with a known id takes the
 * old one's place); other keys update their fields through the reducers, but for `structured_response`, which only runs
 * give. Null gives none. Images, base64 and long texts go to the blob store.
 *
 * @param mintId gives an id to a message that has none
 * @param by who gives the input; default `user`
 * @throws {InvalidUpdateError} @throws {UnknownFieldError}
 * @example
 * await inputToDrafts("hello", ctx, randomUUID); // [{ draft: MessagesAdded(…), by: "user" }]
 */
export async function inputToDrafts(
  input: RunInput | readonly unknown[],
  ctx: Pick<StepContext, "assembly" | "state" | "blobs">,
  mintId: () => string,
  by: Emitter = "user",
): Promise<readonly AttributedDraft[]> {
  if (input === null) return [];
  // A structured response is an output: what a client sends back of it is not taken for one.
  const update = updateOf(input);
  // Ids are minted here, by the caller's source, so that a retried input is the same input.
  const { messages, structured_response: _output, ...fields } = update;
  const stored = messages === undefined ? {} : { messages: toStoredList(messages, mintId) };
  const drafts = updateToDrafts({ ...stored, ...fields }, ctx.state, ctx.assembly, by, { fromOutside: true });
  return externalize(drafts, ctx.blobs);
}

function updateOf(input: Exclude<RunInput, null> | readonly unknown[]): {
  readonly messages?: unknown;
  readonly structured_response?: unknown;
  readonly [field: string]: unknown;
} {
  if (typeof input === "string") return { messages: [{ type: "human", content: input }] };
  if (Array.isArray(input) || isBaseMessage(input)) return { messages: input };
  return input as { readonly [field: string]: unknown };
}
