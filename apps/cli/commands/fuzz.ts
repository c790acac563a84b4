import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, InvalidArgumentError } from "@commander-js/extra-typings";
import type { LawSubject } from "../../../testing/laws/law-subject.ts";
import type { LawReport } from "../../../testing/run-law.ts";
import { printRows } from "../columns.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";
import type { Terminal } from "../terminal.ts";
import { FileNotFoundError, UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";

/** Seeds are 32-bit numbers. */
const maxSeed = 2 ** 31 - 1;
const shownTypes = 8;

interface FuzzFlags {
  readonly reducer?: string;
  readonly field?: string;
  readonly laws?: readonly string[];
  readonly runs?: number;
  readonly time?: number;
  readonly seed?: number;
  readonly path?: string;
  readonly save?: string;
}

function readSeed(text: string): number {
  const seed = Number(text);
  if (!/^-?\d+$/.test(text) || Math.abs(seed) > maxSeed)
    throw new InvalidArgumentError("It is no 32-bit whole number.");
  return seed;
}

/** `90`, `60s`, `5m` as milliseconds; a bare number is seconds. */
function readTime(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  if (!found) throw new InvalidArgumentError("Write a time like 60s or 5m.");
  const unit = { ms: 1, s: 1_000, m: 60_000 }[found[2] ?? "s"] ?? 1_000;
  return Number(found[1]) * unit;
}

function readLaws(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** `threadfold fuzz` */
export function define(command: Command, session: Session): void {
  command
    .option(
      "--reducer <file>",
      "file that exports reducers, middlewares or an agent; default: what the settings name",
    )
    .option("--field <name>", "only this field; `state` is the whole state")
    .option("--laws <names>", "only these laws, with commas between", readLaws)
    .option("--runs <n>", "logs to try for each law (default: 300)", wholeNumber)
    .option("--time <time>", "stop after this time, like 60s or 5m", readTime)
    .option("--seed <n>", "start of the dice, to repeat a search", readSeed)
    .option("--path <path>", "go straight to one failing log of a seed")
    .option("--save <file>", "write the events that broke a law there, as NDJSON")
    .action(async (flags: FuzzFlags) => {
      const { terminal, options } = session;
      const { fuzz } = await fuzzKit();
      const subjects = chosen(await subjectsFor(flags.reducer, session), flags.field);
      if (flags.path !== undefined) checkPath(flags, subjects);
      const seed = flags.seed ?? Number(process.env.FAST_CHECK_SEED ?? Math.floor(Math.random() * maxSeed));
      if (!options.json && !options.ndjson) terminal.say(`seed ${seed}`);
      let reports: readonly LawReport[] = [];
      const { laws, runs, time: milliseconds, path } = flags;
      for await (const progress of fuzz(subjects, {
        seed,
        laws,
        runs,
        milliseconds,
        path,
        signal: session.signal,
      })) {
        reports = progress.reports;
        showProgress(progress.done, progress.planned, reports, session);
      }
      if (terminal.interactive) terminal.talk("\r\u001b[K");
      const broken = reports.filter((report) => report.broken);
      if (broken.length > 0) session.exitWith(exitCodes.checkFailed);
      await save(flags.save, broken[0], session);
      if (options.json)
        return terminal.json({ seed, laws: reports.map((report) => recordOf(report, flags)) });
      if (options.ndjson) {
        for (const report of reports) await terminal.record(recordOf(report, flags));
        return;
      }
      // In a pipe stdout holds one thing: the table, or the events of the first law that broke.
      const aside = broken.length > 0 && !terminal.screen;
      const talk = { ...terminal, line: async (text: string) => terminal.say(text) };
      await printReports(reports, aside ? talk : terminal);
      for (const report of broken) {
        const showEvents = terminal.screen || report === broken[0];
        await printCounterexample(report, flags, showEvents, terminal);
      }
    });
}

/** fast-check comes with the user's own tests, and not with this package. */
async function fuzzKit() {
  try {
    return await import("../../../testing/fuzz.ts");
  } catch (cause) {
    if (!/fast-check/.test((cause as Error).message)) throw cause;
    throw new UsageError(
      "Fuzzing needs the package fast-check. It is not installed. Run: npm install --save-dev fast-check",
      { cause },
    );
  }
}

async function subjectsFor(file: string | undefined, session: Session): Promise<readonly LawSubject[]> {
  const { subjectsIn, subjectsOfState } = await import("../../../testing/subjects-in.ts");
  if (file === undefined) return subjectsOfState(await session.reading());
  const path = resolve(file);
  if (!existsSync(path)) throw new FileNotFoundError(file);
  const { createJiti } = await import("jiti");
  let exports: Record<string, unknown>;
  try {
    exports = await createJiti(import.meta.url).import(pathToFileURL(path).href);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new UsageError(
      `The file ${file} does not load. It fails with: ${message} Mend the file and try again.`,
      { cause },
    );
  }
  return subjectsIn(exports);
}

function chosen(subjects: readonly LawSubject[], field: string | undefined): readonly LawSubject[] {
  if (field === undefined) return subjects;
  const found = subjects.filter(({ name }) => name === field);
  if (found.length > 0) return found;
  throw new UsageError(
    `There is no field "${field}" to fuzz. Choose among ${subjects.map(({ name }) => name).join(", ")}.`,
  );
}

function checkPath({ laws, seed }: FuzzFlags, subjects: readonly LawSubject[]): void {
  if (subjects.length === 1 && laws?.length === 1 && seed !== undefined) return;
  throw new UsageError(
    "A --path belongs to one law of one field. Give --field, --laws and --seed with it, as the report printed them.",
  );
}

function showProgress(
  done: number,
  planned: number | undefined,
  reports: readonly LawReport[],
  { terminal }: Session,
): void {
  if (!terminal.interactive) return;
  const broken = reports.filter((report) => report.broken).length;
  const events = reports.reduce((sum, { drafts }) => sum + drafts, 0);
  const share = planned === undefined ? `${done} logs` : `${Math.floor((100 * done) / planned)} %`;
  terminal.talk(`\r\u001b[K${share}, ${events} events, ${broken} laws broken`);
}

/** The command that finds the same counterexample again. */
function repeatCommand({ law, subject, seed, broken }: LawReport, { reducer }: FuzzFlags): string {
  const from = reducer === undefined ? "" : ` --reducer ${quoted(reducer)}`;
  return `threadfold fuzz${from} --field ${quoted(subject.name)} --laws ${law.name} --seed ${seed} --path ${broken?.path}`;
}

function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function recordOf(report: LawReport, flags: FuzzFlags): object {
  const { law, subject, runs, seed, drafts, refused, milliseconds, types, broken } = report;
  return {
    subject: subject.name,
    law: law.name,
    statement: law.statement,
    holds: broken === undefined,
    runs,
    events: drafts,
    refused,
    milliseconds: Math.round(milliseconds),
    types: Object.fromEntries(types),
    ...(broken && {
      seed,
      reason: broken.reason,
      counterexample: broken.events,
      repeat: repeatCommand(report, flags),
    }),
  };
}

async function printReports(reports: readonly LawReport[], terminal: Terminal): Promise<void> {
  const { green, red } = terminal.colors;
  await printRows(
    terminal,
    [
      { head: "field", text: ({ subject }) => subject.name },
      { head: "law", text: ({ law }) => law.name },
      { head: "logs", text: ({ runs }) => String(runs), right: true },
      { head: "events", text: ({ drafts }) => String(drafts), right: true },
      {
        head: "refused",
        text: ({ drafts, refused }) => `${Math.round((100 * refused) / Math.max(1, drafts))} %`,
        right: true,
      },
      {
        head: "result",
        text: ({ broken }) => (broken ? "broken" : "holds"),
        paint: (text, { broken }) => (broken ? red(text) : green(text)),
      },
    ],
    reports,
  );
  const types = new Map<string, number>();
  for (const report of reports)
    for (const [type, count] of report.types) types.set(type, (types.get(type) ?? 0) + count);
  const all = [...types.values()].reduce((sum, count) => sum + count, 0);
  const most = [...types].sort(([, a], [, b]) => b - a);
  const shares = most
    .slice(0, shownTypes)
    .map(([type, count]) => `${type} ${Math.round((100 * count) / all)} %`);
  const more = most.length > shownTypes ? `, ${most.length - shownTypes} more types` : "";
  terminal.say(`${all} events: ${shares.join(", ")}${more}`);
}

async function printCounterexample(
  report: LawReport,
  flags: FuzzFlags,
  showEvents: boolean,
  terminal: Terminal,
): Promise<void> {
  const { counterexampleLines } = await import("../../../testing/counterexample.ts");
  const { law, subject, broken } = report;
  if (!broken) return;
  const { red, bold } = terminal.talkColors;
  terminal.say("");
  terminal.say(`${red("broken:")} ${bold(subject.name)} ${law.name}: ${law.statement}`);
  terminal.say(`  ${broken.reason}`);
  const { length } = broken.events;
  terminal.say(
    `  ${length} ${length === 1 ? "event" : "events"} after ${broken.shrinks} steps of shrinking:`,
  );
  if (showEvents) for (const line of counterexampleLines(broken)) await terminal.line(line);
  terminal.say(`repeat: ${repeatCommand(report, flags)}`);
}

async function save(
  file: string | undefined,
  report: LawReport | undefined,
  { terminal }: Session,
): Promise<void> {
  if (file === undefined || !report?.broken) return;
  const { counterexampleLines } = await import("../../../testing/counterexample.ts");
  await writeFile(file, `${counterexampleLines(report.broken).join("\n")}\n`);
  terminal.say(
    `saved: ${file} (${report.subject.name} ${report.law.name}); look at it with: threadfold replay ${quoted(file)}`,
  );
}
