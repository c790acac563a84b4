import type { RunItem } from "../../../actors/agent-contract.ts";
import { childThreadId, taskName } from "../../../actors/tools/task.ts";
import { type RecordedEvent, threadIdOf, threadStream } from "../../../events/envelope.ts";
import type { EventLog, SubscriptionItem } from "../../../events/log/event-log.ts";

/** An event of a sub-agent's thread, between the items of the run that asked the sub-agent. */
export interface ChildItem {
  readonly kind: "child";
  /** `tools:<call id>`, one for each level, joined by `|`. */
  readonly namespace: string;
  readonly event: RecordedEvent;
}

interface Child {
  readonly stream: string;
  readonly callId: string;
  readonly namespace: string;
  /** Version of the event that comes next. */
  next: number;
  readonly events: AsyncIterator<SubscriptionItem>;
  readonly over: AbortController;
  pending: Promise<IteratorResult<SubscriptionItem>> | undefined;
}

const toolEnds = new Set(["ToolCallCompleted", "ToolCallFailed", "ToolCallAbandoned"]);

interface CallData {
  readonly callId?: string;
  readonly name?: string;
}

/**
 * Items of a run with the events of its sub-agents' threads between them, in the order of the log: the same order
 * however often it is asked for. Events of children from before the run are left out.
 */
export async function* withChildren(
  items: AsyncIterable<RunItem>,
  options: { readonly log: EventLog; readonly threadId: string; readonly signal: AbortSignal },
): AsyncGenerator<RunItem | ChildItem> {
  const { log, threadId, signal } = options;
  const children = new Map<string, Child>();
  const parent = items[Symbol.asyncIterator]();
  let begun: string | undefined;

  const close = (child: Child) => {
    children.delete(child.stream);
    child.over.abort();
  };
  /** Notes which sub-agents begin and end with an event. */
  const note = (event: RecordedEvent, namespace: string) => {
    const { callId = "", name } = event.data as unknown as CallData;
    if (event.type === "ToolCallStarted" && name === taskName) {
      const of = threadIdOf(event.stream) ?? threadId;
      const stream = threadStream(childThreadId(of, callId));
      if (children.has(stream)) return;
      const over = new AbortController();
      children.set(stream, {
        stream,
        callId,
        namespace: `${namespace}${namespace === "" ? "" : "|"}tools:${callId}`,
        next: 1,
        events: log
          .subscribe({ stream, signal: AbortSignal.any([signal, over.signal]) })
          [Symbol.asyncIterator](),
        over,
        pending: undefined,
      });
    } else if (toolEnds.has(event.type)) {
      for (const child of children.values()) if (child.callId === callId) close(child);
    }
  };
  const take = (child: Child, event: RecordedEvent): ChildItem | undefined => {
    if (event.version < child.next) return undefined;
    child.next = event.version + 1;
    note(event, child.namespace);
    if (begun !== undefined && event.position < begun) return undefined;
    return { kind: "child", namespace: child.namespace, event };
  };

  let nextItem = parent.next();
  try {
    for (;;) {
      const waiting: Promise<Child | undefined>[] = [...children.values()].map((child) => {
        child.pending ??= child.events.next();
        return child.pending.then(() => child);
      });
      const child = await Promise.race([nextItem.then(() => undefined), ...waiting]);
      if (child) {
        const result = await child.pending;
        child.pending = undefined;
        if (!result || result.done) close(child);
        else if (result.value.kind === "event") {
          const item = take(child, result.value.event);
          if (item) yield item;
        }
        continue;
      }
      const { done, value: item } = await nextItem;
      if (done) return;
      nextItem = parent.next();
      nextItem.catch(() => undefined);
      if (item.kind === "event") {
        begun ??= item.event.position;
        // What the children did before this event is in the log by now.
        for (const one of [...children.values()]) yield* until(log, one, item.event.position, take);
        note(item.event, "");
      }
      yield item;
    }
  } finally {
    for (const child of [...children.values()]) close(child);
    parent.return?.()?.catch(() => undefined);
  }
}

async function* until(
  log: EventLog,
  child: Child,
  position: string,
  take: (child: Child, event: RecordedEvent) => ChildItem | undefined,
): AsyncGenerator<ChildItem> {
  for await (const page of log.read(child.stream, { from: child.next })) {
    for (const event of page) {
      if (event.position > position) return;
      const item = take(child, event);
      if (item) yield item;
    }
  }
}
