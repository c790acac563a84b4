import { createColors } from "picocolors";
import { OutputError } from "./output-error.ts";

export type ColorChoice = "auto" | "always" | "never";
type Colors = ReturnType<typeof createColors>;
type Stream = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns" | "once" | "on">;

/** Version of all JSON that the commands print. */
const jsonSchemaVersion = 1;

/** Where a command writes: data to stdout, talk to stderr. */
export interface Terminal {
  /** People read stdout on a screen. */
  readonly screen: boolean;
  /** Somebody can be asked. */
  readonly interactive: boolean;
  /** Columns of the screen. */
  readonly width: number;
  /** Colours for stdout. */
  readonly colors: Colors;
  /** Colours for stderr. */
  readonly talkColors: Colors;
  /** Nobody reads stdout any more. */
  readonly closed: boolean;
  /** Resolves when everything was taken. @throws {OutputError} */
  flushed(): Promise<void>;
  /** Text to stdout as it is; waits while the reader is slow. @throws {OutputError} */
  write(text: string): Promise<void>;
  /** One line to stdout. */
  line(text: string): Promise<void>;
  /** One JSON document to stdout. */
  json(document: object): Promise<void>;
  /** One record of NDJSON to stdout. */
  record(record: object): Promise<void>;
  /** One line to stderr. */
  say(text: string): void;
  /** Text to stderr as it is. */
  talk(text: string): void;
}

function wantsColor(choice: ColorChoice, stream: Stream, env: NodeJS.ProcessEnv): boolean {
  if (choice !== "auto") return choice === "always";
  const forced = env.FORCE_COLOR;
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  return stream.isTTY === true && env.TERM !== "dumb";
}

/**
 * The terminal of the process. A reader that goes away (`| head`) is no error: what comes later is dropped.
 *
 * @param options.onClosed called once when stdout is closed
 */
export function createTerminal(options: {
  readonly color: ColorChoice;
  readonly stdout?: Stream;
  readonly stderr?: Stream;
  readonly env?: NodeJS.ProcessEnv;
  readonly onClosed?: () => void;
}): Terminal {
  const { color, stdout = process.stdout, stderr = process.stderr, env = process.env, onClosed } = options;
  let closed = false;
  let failure: OutputError | undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") {
      failure ??= new OutputError(`The output cannot be written (${error.code}).`, { cause: error });
      return;
    }
    if (closed) return;
    closed = true;
    onClosed?.();
  });
  stderr.on("error", () => undefined);
  const write = async (text: string): Promise<void> => {
    if (failure) throw failure;
    if (closed || text === "" || stdout.write(text)) return;
    await new Promise<void>((resolve) => {
      stdout.once("drain", resolve);
      stdout.once("error", () => resolve());
    });
    if (failure) throw failure;
  };
  return {
    screen: stdout.isTTY === true,
    interactive: process.stdin.isTTY === true && stderr.isTTY === true,
    width: stdout.columns ?? 100,
    colors: createColors(wantsColor(color, stdout, env)),
    talkColors: createColors(wantsColor(color, stderr, env)),
    get closed() {
      return closed;
    },
    async flushed() {
      if (!closed) await new Promise<void>((resolve) => stdout.write("", () => resolve()));
      if (failure) throw failure;
    },
    write,
    line: (text) => write(`${text}\n`),
    json: (document) =>
      write(`${JSON.stringify({ schemaVersion: jsonSchemaVersion, ...document }, null, 2)}\n`),
    record: (record) => write(`${JSON.stringify({ schemaVersion: jsonSchemaVersion, ...record })}\n`),
    say: (text) => void stderr.write(`${text}\n`),
    talk: (text) => void stderr.write(text),
  };
}
