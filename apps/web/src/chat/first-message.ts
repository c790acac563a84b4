interface FirstMessage {
  readonly thread: string;
  readonly text: string;
  readonly files: readonly File[];
}

let waiting: FirstMessage | undefined;

/** Leaves a message for the chat of a thread that was just made. */
export function leaveFirstMessage(message: FirstMessage): void {
  waiting = message;
}

/** Takes the message that was left for a thread. It is there once. */
export function takeFirstMessage(thread: string): FirstMessage | undefined {
  const own = waiting?.thread === thread ? waiting : undefined;
  if (own) waiting = undefined;
  return own;
}
