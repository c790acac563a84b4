import type { Terminal } from "./terminal.ts";

/** An error for people: what happened, why, and what to do next. */
interface ErrorLines {
  readonly what: string;
  readonly why: string | undefined;
  readonly next: string | undefined;
}

/** Commands that help, by the name of the error. They take the place of what the message says last. */
const nextByName: Readonly<Record<string, string>> = {
  UnknownThreadError: "List the threads with: threadfold threads",
  AmbiguousThreadError: "Write more of the id; list the threads with: threadfold threads",
  ThreadBusyError:
    "Wait for its end, stop it with Ctrl-C where it runs, or leave yours to a worker: threadfold run --queue",
  UnknownStoreUrlError:
    "Write --store sqlite:<path>, postgres://<host>/<database>, kurrentdb://<host>:2113 or memory:",
};

/** Sentences end before a capital letter, a quote or an opening bracket. */
const sentenceEnd = /(?<=[.!?])\s+(?=[A-Z"“`(<])/u;

/** Splits an error's message into its lines. */
export function errorLines(error: unknown): ErrorLines {
  const name = error instanceof Error ? error.name : "Error";
  const message = error instanceof Error ? error.message : String(error);
  const sentences = message
    .replaceAll(/\s*[\r\n]+\s*/gu, " ")
    .trim()
    .split(sentenceEnd)
    .filter((sentence) => sentence !== "");
  const [what = name, ...rest] = sentences;
  const known = Object.hasOwn(nextByName, name) ? nextByName[name] : undefined;
  const last = rest.length > 0 ? rest.at(-1) : undefined;
  const why = rest.slice(0, -1).join(" ") || (known !== undefined ? rest.join(" ") : "");
  return { what, why: why === "" ? undefined : why, next: known ?? last };
}

/** Prints an error as at most three lines to stderr; with `debug` its stack and its causes, too. */
export function reportError(error: unknown, terminal: Terminal, debug: boolean): void {
  const { red, dim } = terminal.talkColors;
  const { what, why, next } = errorLines(error);
  terminal.say(`${red("error:")} ${what}`);
  if (why !== undefined) terminal.say(`  ${dim("why:")} ${why}`);
  if (next !== undefined) terminal.say(`  ${dim("next:")} ${next}`);
  if (!debug) return;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    terminal.say(cause.stack ?? String(cause));
  }
}
