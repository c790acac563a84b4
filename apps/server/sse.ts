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

/** Characters of a stream that wait for a slow client at most, beyond one text. */
const maxWaitingChars = 16 * 1024;

const silence: unique symbol = Symbol("silence");
const nothingYet: unique symbol = Symbol("nothing yet");

/**
 * Writes texts as the client pulls them, with a filler in long silences. What is there already goes in one piece; no
 * text waits for another.
 */
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
  const quiet = createSilence(heartbeatMs);
  let pending: Promise<IteratorResult<string>> | undefined;
  let closed = false;
  const close = (early: boolean) => {
    if (closed) return;
    closed = true;
    quiet.stop();
    onClose?.(early);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= iterator.next();
        try {
          const first = await Promise.race([pending, quiet.next()]);
          if (closed) return;
          if (first === silence) {
            controller.enqueue(encoder.encode(filler));
            return;
          }
          let text = "";
          for (let result: IteratorResult<string> | typeof nothingYet = first; ; ) {
            if (result === nothingYet) break;
            pending = undefined;
            if (result.done) {
              if (text !== "") controller.enqueue(encoder.encode(text));
              close(false);
              controller.close();
              return;
            }
            text += result.value;
            if (text.length >= maxWaitingChars) break;
            pending = iterator.next();
            result = await Promise.race([pending, nextTurn()]);
          }
          if (!closed) controller.enqueue(encoder.encode(text));
        } catch (error) {
          if (closed) return;
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

function nextTurn(): Promise<typeof nothingYet> {
  return new Promise((resolve) => setImmediate(resolve, nothingYet));
}

/** One timer for a whole stream: `next` resolves when so many milliseconds have passed without another call of it. */
function createSilence(ms: number) {
  let tell: (value: typeof silence) => void = () => undefined;
  const timer = setTimeout(() => tell(silence), ms);
  timer.unref();
  return {
    next(): Promise<typeof silence> {
      timer.refresh();
      return new Promise((resolve) => {
        tell = resolve;
      });
    },
    stop: () => clearTimeout(timer),
  };
}

/** Headers of every event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};
