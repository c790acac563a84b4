import type { BaseMessage } from "@langchain/core/messages";
import { canonicalJson } from "../../events/canonical-json.ts";
import type { Json } from "../../events/json.ts";
import type { Message } from "../../events/message.ts";
import { ModelCallStarted, type View } from "../../events/model.ts";
import { blobsOf } from "../../projections/blob-references.ts";
import { type HashedMessages, hashMessages, requestHash } from "../../projections/request-hash.ts";
import type { EditsInForce } from "../../projections/request-view.ts";
import { modelView } from "../../reducers/compaction.ts";
import { hasUniqueIds } from "../../reducers/message-list.ts";
import { SystemMessage } from "../langchain.ts";
import { plainJson } from "../messages/plain-json.ts";
import { toLangChain } from "../messages/to-langchain.ts";
import { toStored } from "../messages/to-stored.ts";
import type { ModelRequest } from "../middleware/define-middleware.ts";
import { modelNameOf } from "../models/resolve-model.ts";
import { type CallTexts, createCallTexts, type NamedTexts } from "./named-texts.ts";
import { type MessagesLayer, modelMessages, storedRequest } from "./request-messages.ts";
import type { AttributedDraft, PreviousView, StepContext } from "./step-contract.ts";
import { recordTools } from "./tool-schemas.ts";
import { editsBetween, type RecordedEdits, recordEdits } from "./view-edits.ts";

/** Longest edits that stand in the event itself, in characters. */
const maxInlineEdits = 32 * 1024;

/** What the next call of the thread goes on from. */
export interface ViewMemory extends PreviousView {
  readonly edits: EditsInForce;
  /** Undefined after the thread was opened: the first call hashes its whole request. */
  readonly hashed?: HashedMessages;
  /** Undefined after the thread was opened. */
  readonly texts?: NamedTexts;
}

/** One request that is about to go out. */
export interface AnnouncedCall {
  readonly started: AttributedDraft;
  readonly requestHash: string;
  readonly view: ViewMemory;
  /** System message first, content of blobs in place, frozen. */
  readonly messages: readonly BaseMessage[];
}

/** Who changed what on the way from the state to the request. */
export interface RequestLayers {
  readonly messages: readonly MessagesLayer[];
  /** `agent`, and the middlewares that changed the system prompt. */
  readonly system: readonly string[];
}

interface SystemPrompt {
  readonly recorded: View["system"];
  readonly message: BaseMessage | undefined;
}

async function recordSystem(
  request: ModelRequest,
  by: readonly string[],
  texts: CallTexts,
): Promise<SystemPrompt> {
  const { systemMessage } = request;
  if (!systemMessage || systemMessage.content.length === 0) {
    return { recorded: null, message: undefined };
  }
  const { id: _, type, content, ...rest } = toStored(systemMessage, () => "system");
  if (typeof content === "string" && Object.keys(rest).length === 0) {
    const sha256 = await texts.put(content, "text/plain");
    return { recorded: { sha256, by: [...by] }, message: new SystemMessage(content) };
  }
  const json = canonicalJson({ type, content, ...rest });
  const sha256 = await texts.put(json, "application/json");
  const message = toLangChain({ ...(JSON.parse(json) as Message), id: "system" });
  return { recorded: { sha256, by: [...by], message: true }, message };
}

async function recordView(
  ctx: StepContext,
  recorded: RecordedEdits,
  from: string | undefined,
  system: View["system"],
  texts: CallTexts,
): Promise<View> {
  const { continues, edits } = recorded;
  const view: View = {
    version: ctx.version,
    from: continues ? (from ?? null) : null,
    edits: [...edits],
    system,
  };
  if (edits.length === 0) return view;
  const json = JSON.stringify(edits);
  if (json.length <= maxInlineEdits) return view;
  const sha256 = await texts.put(json, "application/json");
  const mentioned = blobsOf({ type: "ModelCallStarted", data: JSON.parse(json) as Json });
  const holds = mentioned.map((mention) => ({ sha256: mention.sha256 }));
  return { ...view, edits: [], blob: { sha256, ...(holds.length > 0 && { holds }) } };
}

/**
 * Works out what is to be recorded of a request before it goes out, and puts its prompt, tools and large messages into
 * the blob store.
 *
 * @param model name under which the model is recorded; default: that of the request's model
 */
export async function announceCall(
  ctx: StepContext,
  callId: string,
  request: ModelRequest,
  layers: RequestLayers,
  before: ViewMemory | undefined,
  model = modelNameOf(request.model),
): Promise<AnnouncedCall> {
  const base = modelView(ctx.state);
  const stored = await storedRequest(base, request.messages, layers.messages, before?.edits, ctx.blobs);
  const uniqueIds = () => hasUniqueIds((ctx.state.messages ?? []) as readonly Message[]);
  const edits = editsBetween(base, stored.messages, stored.origins, uniqueIds);
  const recorded = recordEdits(before?.edits, edits);
  const texts = createCallTexts(ctx.blobs, before?.texts);
  const system = await recordSystem(request, layers.system, texts);
  const view = await recordView(ctx, recorded, before?.callId, system.recorded, texts);
  const tools = await recordTools(request.tools, texts);
  const settings = plainSettings(request.modelSettings);
  const toolChoice = request.toolChoice === undefined ? undefined : plainJson(request.toolChoice);
  const hashed = hashMessages(stored.messages, before?.hashed);
  const facts = { model, settings, toolChoice, system: view.system?.sha256 ?? null, tools };
  const hash = requestHash(facts, hashed.digest);
  const data = {
    callId,
    model,
    view,
    tools,
    ...(settings && { settings }),
    ...(toolChoice !== undefined && { toolChoice }),
    requestHash: hash,
  } as Parameters<typeof ModelCallStarted>[0];
  const own = await modelMessages(stored.messages, ctx.blobs);
  return {
    started: { draft: ModelCallStarted(data), by: "runtime" },
    requestHash: hash,
    view: { callId, edits: recorded.inForce, hashed, texts: texts.named },
    messages: system.message ? [system.message, ...own] : own,
  };
}

function plainSettings(
  settings: ModelRequest["modelSettings"],
): { readonly [key: string]: Json } | undefined {
  if (!settings || Object.keys(settings).length === 0) return undefined;
  return plainJson(settings) as { readonly [key: string]: Json };
}
