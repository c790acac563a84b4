/** One frame of an event stream. */
export interface SseFrame {
  readonly event?: string;
  readonly data: unknown;
  readonly id?: string;
}

/** A frame as it is written: event, data, id, as the reference server orders them. */
function formatFrame({ event, data, id }: SseFrame): string {
  const lines = [`data: ${JSON.stringify(data) ?? "null"}`];
  if (event !== undefined) lines.unshift(`event: ${event}`);
  if (id !== undefined) lines.push(`id: ${id}`);
  return `${lines.join("\n")}\n\n`;
}

const heartbeat = ": heartbeat\n\n";

/**
 * Writes frames as a server-sent event stream. It is pulled by the client: one frame waits at a time, however slow the
 * client is, and a comment is sent when nothing happened for a while.
 *
 * @param options.heartbeatMs milliseconds of silence before a comment
 * @param options.onClose called once, with true when the client went away before the end
 */
export function sseBody(
  frames: AsyncIterable<SseFrame>,
  options: { readonly heartbeatMs: number; readonly onClose?: (early: boolean) => void },
): ReadableStream<Uint8Array> {
  return pulledBody(textOf(frames), { ...options, filler: heartbeat });
}

async function* textOf(frames: AsyncIterable<SseFrame>): AsyncGenerator<string> {
  for await (const frame of frames) yield formatFrame(frame);
}

/** Writes texts as the client pulls them, with a filler in long silences. */
export function pulledBody(
  texts: AsyncIterable<string>,
  options: {
    readonly heartbeatMs: number;
    readonly filler: string;
    readonly onClose?: (early: boolean) => void;
  },
): ReadableStream<Uint8Array> {
  const { heartbeatMs, filler, onClose } = options;
  const iterator = texts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let pending: Promise<IteratorResult<string>> | undefined;
  let closed = false;
  const close = (early: boolean) => {
    if (closed) return;
    closed = true;
    onClose?.(early);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= iterator.next();
        try {
          const result = await orSilence(pending, heartbeatMs);
          if (result === "silence") {
            if (!closed) controller.enqueue(encoder.encode(filler));
            return;
          }
          pending = undefined;
          if (closed) return;
          if (!result.done) {
            controller.enqueue(encoder.encode(result.value));
            return;
          }
          close(false);
          controller.close();
        } catch (error) {
          close(false);
          controller.error(error);
        }
      },
      cancel() {
        close(true);
        // The iterator may wait for an item; it ends with its source.
        iterator.return?.()?.catch(() => undefined);
      },
    },
    { highWaterMark: 1 },
  );
}

async function orSilence<Value>(work: Promise<Value>, ms: number): Promise<Value | "silence"> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<"silence">((resolve) => {
    timer = setTimeout(resolve, ms, "silence");
    timer.unref();
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** Headers of every event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};
