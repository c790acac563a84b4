#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { Command, CommanderError } from "@commander-js/extra-typings";
import { type CommandEntry, commandTable } from "./command-table.ts";
import { exitCodeFor, exitCodes } from "./exit-codes.ts";
import { addGlobalOptions, type GlobalOptions, globalsWithValue } from "./global-options.ts";
import { reportError } from "./report-error.ts";
import { createSession, type Session } from "./session.ts";
import { type ColorChoice, createTerminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** The command that is called, and the arguments with everything that stood before its name behind it. */
function findCommand(given: readonly string[]): { entry: CommandEntry | undefined; args: readonly string[] } {
  const args = given[0] === "help" && given[1] ? [given[1], "--help"] : given;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg.startsWith("-")) {
      if (globalsWithValue.has(arg)) at += 1;
      continue;
    }
    const entry = commandTable.find(({ name, alias }) => name === arg || alias === arg);
    return { entry, args: entry ? [arg, ...args.slice(0, at), ...args.slice(at + 1)] : args };
  }
  return { entry: undefined, args };
}

async function packageVersion(): Promise<string> {
  // The sources lie two folders deeper than the bundle.
  for (const path of ["../package.json", "../../package.json"]) {
    const text = await readFile(new URL(path, import.meta.url), "utf8").catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { version: string }).version;
  }
  return "unknown";
}

function optionValue(args: readonly string[], name: string): string | undefined {
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  const arg = args[at];
  return arg?.includes("=") ? arg.slice(name.length + 1) : args[at + 1];
}

/** Options that have to be known before the arguments are parsed. */
function earlyOptions(args: readonly string[]): { color: ColorChoice; debug: boolean } {
  const color = args.some((arg) => arg.startsWith("--color")) ? optionValue(args, "--color") : undefined;
  return {
    color: color === "always" || color === "never" ? color : "auto",
    debug: args.includes("--debug"),
  };
}

async function main(given: readonly string[]): Promise<number> {
  const { entry, args } = findCommand(given);
  const early = earlyOptions(given);
  const interrupted = new AbortController();
  // Nobody reads any more: a command that only shows things is done, a run goes on quietly.
  const closed = () => {
    if (entry?.name !== "run" && entry?.name !== "resume") process.exit(exitCodes.ok);
  };
  const terminal = createTerminal({ color: early.color, onClosed: closed });
  process.on("SIGINT", () => {
    if (interrupted.signal.aborted) process.exit(exitCodes.interrupted);
    interrupted.abort(new Error("Ctrl-C"));
  });

  let session: Session | undefined;
  const program = new Command("threadfold")
    .description(
      "Runs agent threads and keeps every event of them: show, compare, fork, rewind, verify any past state.",
    )
    .version(await packageVersion(), "-V, --version")
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText(
      "after",
      "\nA position is <thread>@<version>; also @head, @-5, @<ISO time>, @run:<id>. Ids may be cut short.",
    );
  for (const { name, alias, summary } of commandTable) {
    if (name === entry?.name) continue;
    const listed = program.command(name).description(summary);
    if (alias) listed.alias(alias);
  }
  if (entry) {
    const command = program.command(entry.name).description(entry.summary);
    if (entry.alias) command.alias(entry.alias);
    addGlobalOptions(command as unknown as Command);
    command.hook("preAction", () => {
      Object.assign(options, command.opts());
    });
    const options = { color: early.color } as { -readonly [Key in keyof GlobalOptions]: GlobalOptions[Key] };
    session = createSession(terminal, options, interrupted.signal);
    (await entry.load()).define(command as unknown as Command, session);
  }

  try {
    if (given.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: "user" });
    if (interrupted.signal.aborted) session?.exitWith(exitCodes.interrupted);
    await terminal.flushed();
    return session?.exitCode ?? exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    if (interrupted.signal.aborted && error === interrupted.signal.reason) return exitCodes.interrupted;
    const shown = error instanceof CommanderError ? usageErrorFrom(error, entry) : error;
    reportError(shown, terminal, early.debug);
    return exitCodeFor(shown);
  } finally {
    await session?.end();
  }
}

function usageErrorFrom(error: CommanderError, entry: CommandEntry | undefined): UsageError {
  const [what = "", ...hints] = error.message.replace(/^error: /, "").split("\n");
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/[.]?$/, ".");
  const help = entry ? `threadfold ${entry.name} --help` : "threadfold --help";
  const hint = hints.join(" ").trim();
  return new UsageError(`${sentence} ${hint ? `${hint} ` : ""}See what there is with: ${help}`);
}

// Waiting for events of other processes holds no handle of its own.
const awake = setInterval(() => undefined, 2 ** 30);
process.exitCode = await main(process.argv.slice(2));
clearInterval(awake);
// The client of a store may hold on to a server that never answers. Not reached when nothing is held any more.
setTimeout(function leave() {
  // What is still to be read by the next program of a pipe is not cut off.
  if (process.stdout.writableLength > 0) setTimeout(leave, 100);
  else process.exit();
}, 2000).unref();
