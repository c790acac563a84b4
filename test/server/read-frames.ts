import { createParser } from "eventsource-parser";

/** A frame of an event stream as a client reads it. */
export interface ReadFrame {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** The body of an answer as it comes. Ending the loop closes the socket. */
export function bytesOf(answer: Response): AsyncIterable<Uint8Array> {
  return (answer.body ?? new ReadableStream()) as unknown as AsyncIterable<Uint8Array>;
}

/** Frames of an answer as they come. */
export async function* framesIn(answer: Response): AsyncGenerator<ReadFrame> {
  const ready: ReadFrame[] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) => ready.push({ event, id, data: JSON.parse(data) }),
  });
  const decoder = new TextDecoder();
  for await (const bytes of bytesOf(answer)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* ready.splice(0);
  }
}

/** All frames of an answer. */
export async function readFrames(answer: Response): Promise<ReadFrame[]> {
  const frames: ReadFrame[] = [];
  for await (const frame of framesIn(answer)) frames.push(frame);
  return frames;
}
