import { typedText } from "../../actors/middleware/message-text.ts";
import { type RecordedEvent, threadStream } from "../../events/envelope.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import type { Message } from "../../events/message.ts";
import { type Branch, readBranches } from "../../projections/branches.ts";
import { outlineOf } from "../../projections/json-outline.ts";
import { resolveLineage, type Segment } from "../../projections/lineage.ts";
import { checkpointIdOf, eventAt } from "./compat/checkpoint-id.ts";

/** A piece of what a message says. Long texts are cut: `size` tells how long they are. */
export type ShownPart =
  | { readonly kind: "text"; readonly text: string; readonly size: number }
  | {
      readonly kind: "blob";
      readonly sha256: string;
      readonly mimeType: string;
      readonly size: number;
      readonly preview?: string;
    }
  | { readonly kind: "other"; readonly type: string };

/** Another way on from the same place. */
interface Alternative {
  /** The last version that belongs to it. */
  readonly version: number;
  /** It is the one that is shown. */
  readonly current: boolean;
}

/** A message as a chat shows it. */
export interface ShownMessage {
  /** Place in the state's list. */
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly parts: readonly ShownPart[];
  readonly calls: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly toolCallId?: string;
  readonly status?: string;
  readonly files: readonly { readonly filename: string; readonly size: number }[];
  /** Checkpoint from which the message can be said in other words. */
  readonly edit?: string;
  /** Checkpoint from which it can be answered again. */
  readonly again?: string;
  readonly alternatives: readonly Alternative[];
}

/** Characters of one text that are sent. */
const maxText = 20_000;

/** True for messages that stand there for the model only. */
/** Of arguments that are too long to travel whole: how many are shown, and characters of each. */
const maxShownArgs = 50;
const maxArgText = 400;

function isHiddenMessage({ type, additional_kwargs: more }: Message): boolean {
  return type === "system" || more?.hide_from_ui === true || more?.dynamic_context_reminder === true;
}

function textPart(text: string): ShownPart {
  return { kind: "text", text: text.slice(0, maxText).toWellFormed(), size: text.length };
}

function partOf(block: string | Readonly<Record<string, unknown>>): ShownPart {
  if (typeof block === "string") return textPart(block);
  const { type, text, sha256, mimeType, size, preview } = block;
  if (typeof text === "string") return textPart(text);
  if (typeof sha256 === "string") {
    return {
      kind: "blob",
      sha256,
      mimeType: String(mimeType ?? "application/octet-stream"),
      size: Number(size ?? 0),
      ...(typeof preview === "string" && { preview }),
    };
  }
  return { kind: "other", type: String(type) };
}

function partsOf(message: Message): readonly ShownPart[] {
  const { content, additional_kwargs: more } = message;
  const isRewritten = message.type === "human" && more?.original_user_content !== undefined;
  // What was typed, without what was put in front of it for the model.
  const typed = isRewritten ? [textPart(typedText(message))] : [];
  const blocks = typeof content === "string" ? [content] : content;
  const rest = blocks.map((block) => partOf(block)).filter((part) => !isRewritten || part.kind !== "text");
  return [...typed, ...rest].filter((part) => part.kind !== "text" || part.text !== "");
}

function filesOf({ additional_kwargs: more }: Message): ShownMessage["files"] {
  const files = Array.isArray(more?.files) ? more.files : [];
  return files.slice(0, 50).flatMap((file: unknown) => {
    const { filename, size } = (file ?? {}) as { filename?: unknown; size?: unknown };
    return typeof filename === "string" ? [{ filename, size: Number(size ?? 0) }] : [];
  });
}

/** Arguments as they are, or, when they are long, the beginning of each. */
function shownArgs(args: Readonly<Record<string, unknown>>): unknown {
  const { value } = outlineOf(args);
  if (value !== undefined) return value;
  const shortened = Object.entries(args)
    .slice(0, maxShownArgs)
    .map(([name, arg]) => {
      const outline = outlineOf(arg);
      const begin = outline.text ?? outline.glimpse ?? "";
      return [name, outline.value === undefined ? `${begin.slice(0, maxArgText)}…` : outline.value];
    });
  return Object.fromEntries(shortened);
}

function shown(message: Message, index: number): ShownMessage {
  const { id, type, name, tool_calls: calls = [], tool_call_id: toolCallId, status } = message;
  return {
    index,
    id,
    type,
    ...(typeof name === "string" && { name }),
    parts: partsOf(message),
    calls: calls.map((call) => {
      return { ...(call.id !== undefined && { id: call.id }), name: call.name, args: shownArgs(call.args) };
    }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(typeof status === "string" && { status }),
    files: filesOf(message),
    alternatives: [],
  };
}

/** Where a message came into the thread: its own event, and the beginning of the run that it was given to. */
interface Arrival {
  readonly event: RecordedEvent;
  readonly before: number;
}

async function arrivalsOf(
  log: EventLog,
  segments: readonly Segment[],
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Arrival>> {
  const found = new Map<string, Arrival>();
  let added: RecordedEvent[] = [];
  const settle = (event: RecordedEvent, before: number) => {
    for (const { id } of (event.data as unknown as { messages: readonly Message[] }).messages) {
      if (ids.has(id) && !found.has(id)) found.set(id, { event, before });
    }
  };
  for (const { stream, from, to } of segments.toReversed()) {
    const types = ["RunStarted", "MessagesAdded"];
    for await (const page of log.read(stream, { from, to, types, backwards: true })) {
      for (const event of page) {
        if (event.type === "MessagesAdded") {
          if (event.metadata.runId === undefined) settle(event, event.version - 1);
          else added.push(event);
          continue;
        }
        const { runId } = event.data as unknown as { runId: string };
        for (const one of added) if (one.metadata.runId === runId) settle(one, event.version - 1);
        added = added.filter((one) => one.metadata.runId !== runId);
      }
      if (found.size === ids.size) return found;
    }
  }
  return found;
}

/** Where the thread has more than one way on, by the version that they leave from. */
interface Turnings {
  /** The version whose state a version has: that of a rewind is its target's. */
  settled(version: number): number;
  at: ReadonlyMap<number, readonly { readonly start: number; readonly branch: Branch }[]>;
  endOf(start: number, branch: Branch): number;
}

async function turningsOf(log: EventLog, threadId: string): Promise<Turnings> {
  const { branches } = await readBranches(log, threadId, { forks: async () => [] });
  const rewinds = new Map(
    branches.flatMap(({ from, leaves }) => (leaves?.threadId === threadId ? [[from, leaves.version]] : [])),
  );
  const settled = (version: number): number => {
    const target = rewinds.get(version);
    return target === undefined ? version : settled(target);
  };
  const left = (branch: Branch) =>
    branch.leaves?.threadId === threadId ? settled(branch.leaves.version) : undefined;
  const at = new Map<number, { start: number; branch: Branch }[]>();
  for (const branch of branches) {
    const from = left(branch);
    if (from === undefined) continue;
    const straight = branches.find((one) => one.from <= from && from < one.to);
    const known = at.get(from) ?? (straight ? [{ start: from + 1, branch: straight }] : []);
    at.set(from, [...known, { start: branch.from, branch }]);
  }
  const endOf = (start: number, branch: Branch): number => {
    const later = branches.filter((one) => {
      const from = left(one);
      return from !== undefined && one.from > branch.from && start <= from && from <= branch.to;
    });
    return Math.max(branch.to, ...later.map((one) => endOf(one.from, one)));
  };
  return { settled, at, endOf };
}

/** The next version after one on the way to what is shown; undefined: it is not on the way, or its end. */
function nextOnWay(segments: readonly Segment[], stream: string, version: number): number | undefined {
  const place = segments.findIndex(
    (one) => one.stream === stream && one.from <= version && version <= one.to,
  );
  const segment = segments[place];
  if (!segment) return undefined;
  return version < segment.to ? version + 1 : segments[place + 1]?.from;
}

/**
 * A page of the messages that a thread had at a version, as a chat shows them, with the places from which each can be
 * edited or answered again, and the other ways on that the thread has.
 *
 * @param options.before index of the first message that is known; the page ends before it
 */
export async function readConversation(
  source: {
    readonly log: EventLog;
    readonly threadId: string;
    readonly version: number;
    stateAt(version: number): Promise<{ readonly [field: string]: unknown }>;
  },
  options: { readonly before?: number | undefined; readonly limit: number },
): Promise<{ readonly messages: readonly ShownMessage[]; readonly total: number; readonly more: boolean }> {
  const { log, threadId, version, stateAt } = source;
  const messagesAt = async (at: number) => ((await stateAt(at)).messages ?? []) as readonly Message[];
  const all = await messagesAt(version);
  const page: ShownMessage[] = [];
  let index = Math.min(options.before ?? all.length, all.length) - 1;
  for (; index >= 0 && page.length < options.limit; index--) {
    const message = all[index];
    if (message && !isHiddenMessage(message)) page.unshift(shown(message, index));
  }
  const first = page[0]?.index ?? 0;
  const more = all.slice(0, first).some((message) => !isHiddenMessage(message));

  const stream = threadStream(threadId);
  const segments = await resolveLineage(log, stream, version);
  const turnings = await turningsOf(log, threadId);
  // An answer on this page may belong to a question of the page before.
  const questionOf = (at: number) =>
    all.slice(0, at + 1).findLast((one) => one.type === "human" && !isHiddenMessage(one))?.id;
  const questions = new Set(page.map((one) => questionOf(one.index)).filter((id) => id !== undefined));
  const arrivals = await arrivalsOf(log, segments, questions);
  const checkpointAt = async (of: string, at: number) => {
    const place = Math.max(1, of === stream ? turnings.settled(at) : at);
    const event = await eventAt(log, of, place);
    return event && checkpointIdOf(of, place, event.recordedAt);
  };

  const alternatives = new Map<number, readonly Alternative[]>();
  for (const [from, ways] of turnings.at) {
    const next = nextOnWay(segments, stream, from);
    if (next === undefined || ways.length < 2) continue;
    const place = (await messagesAt(from)).length;
    const carrier = page.find((one) => one.index >= place);
    if (!carrier || (place < first && first > 0)) continue;
    const shownWays = ways.map(({ start, branch }) => ({
      version: turnings.endOf(start, branch),
      current: start <= next && next <= branch.to,
    }));
    alternatives.set(carrier.index, shownWays);
  }

  const messages: ShownMessage[] = [];
  for (const message of page) {
    const arrival = arrivals.get(questionOf(message.index) ?? "");
    const { event, before } = arrival ?? {};
    const edit =
      message.type === "human" && event && before !== undefined
        ? await checkpointAt(event.stream, before)
        : undefined;
    const again =
      message.type === "ai" && event
        ? checkpointIdOf(event.stream, event.version, event.recordedAt)
        : undefined;
    messages.push({
      ...message,
      ...(edit !== undefined && { edit }),
      ...(again !== undefined && { again }),
      alternatives: alternatives.get(message.index) ?? [],
    });
  }
  return { messages, total: all.length, more };
}
