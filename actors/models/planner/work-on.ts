import { ArithmeticError, calculate } from "./arithmetic.ts";
import { extractSummary } from "./extract-summary.ts";
import { call, filesOf, maxFilesRead, ofKind, present, readAll, walk } from "./file-work.ts";
import { shellPath, workspace } from "./paths.ts";
import type { CountUnit, Step, Target } from "./step.ts";
import { type StepContext, StepFailed, type StepWork } from "./work.ts";

/** Characters of a file or an output that an answer shows. */
const maxShownCharacters = 2000;
/** Lines that a search shows. */
const maxShownMatches = 50;

function shown(text: string, context: StepContext): string {
  if (text.length <= maxShownCharacters) return text;
  return `${text.slice(0, maxShownCharacters)}\n${context.wording.cut(maxShownCharacters, text.length)}`;
}

function fenced(text: string, context: StepContext): string {
  return `\`\`\`\n${shown(text.trimEnd(), context)}\n\`\`\``;
}

function named(path: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

function* list(folder: string, endings: readonly string[], context: StepContext): StepWork {
  const files = ofKind(yield* walk(folder), endings);
  const lines = files.map((path) => `- ${path.slice(folder.length + 1)}`);
  const head = context.wording.listed(files.length, folder, endings);
  return { text: [lines.length > 0 ? `${head}:` : `${head}.`, ...lines].join("\n"), files };
}

function* read(target: Target, context: StepContext): StepWork {
  const files = yield* readAll(yield* filesOf(target, context));
  const failed = files.find((file) => file.failed);
  if (failed) throw new StepFailed(failed.text);
  return {
    text: files.map(({ path, text }) => `${named(path)}:\n${fenced(text, context)}`).join("\n"),
    files: files.map(({ path }) => path),
  };
}

function* summarize(target: Target, context: StepContext): StepWork {
  const files = yield* readAll(yield* filesOf(target, context));
  const failed = files.find((file) => file.failed);
  if (failed) throw new StepFailed(failed.text);
  return {
    text: files
      .map(({ path, text }) => `${context.wording.summary(named(path))}:\n${extractSummary(text)}`)
      .join("\n"),
    files: files.map(({ path }) => path),
  };
}

function countIn(text: string, unit: CountUnit): number {
  if (unit === "lines") return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  if (unit === "characters") return [...text].length;
  return text.split(/\s+/).filter((word) => word !== "").length;
}

function* count(unit: CountUnit, target: Target, context: StepContext): StepWork {
  const files = yield* filesOf(target, context);
  const counts = new Map<string, number>();
  if (files.length > 0 && context.has("bash")) {
    const flag = { words: "-w", lines: "-l", characters: "-m" }[unit];
    const [result] = yield [call("bash", { command: `wc ${flag} -- ${files.map(shellPath).join(" ")}` })];
    for (const [, number, name] of (result?.text ?? "").matchAll(/^\s*(\d+)\s+(\S.*)$/gm)) {
      const path = files.find((file) => file === name || named(file) === name || file.endsWith(`/${name}`));
      if (path) counts.set(path, Number(number));
    }
    if (counts.size < files.length && result) throw new StepFailed(result.text.trim());
  } else {
    for (const file of yield* readAll(files)) {
      if (file.failed) throw new StepFailed(file.text);
      counts.set(file.path, countIn(file.text, unit));
    }
    if (files.length > maxFilesRead) throw new StepFailed(`${files.length} > ${maxFilesRead}`);
  }
  const { counted } = context.wording;
  const total = [...counts.values()].reduce((sum, value) => sum + value, 0);
  const lines = [...counts].map(([path, value]) => `- ${named(path)}: ${counted(value, unit)}`);
  if (lines.length !== 1) lines.push(`- ${context.wording.total}: ${counted(total, unit)}`);
  return { text: lines.join("\n"), files };
}

function* search(text: string, folder: string, context: StepContext): StepWork {
  let found: readonly string[];
  if (context.has("bash")) {
    const pattern = `'${text.replaceAll("'", "'\\''")}'`;
    const where = folder === workspace ? "." : shellPath(folder);
    const command = `grep -rnIF --exclude-dir=.git --exclude-dir=node_modules -e ${pattern} ${where} || true`;
    const [result] = yield [call("bash", { command })];
    if (result?.failed) throw new StepFailed(result.text);
    found = (result?.text ?? "").split("\n").filter((line) => /:\d+:/.test(line));
  } else {
    const files = yield* readAll(yield* walk(folder));
    found = files.flatMap((file) =>
      file.failed
        ? []
        : file.text
            .split("\n")
            .flatMap((line, index) =>
              line.includes(text) ? [`${named(file.path)}:${index + 1}:${line}`] : [],
            ),
    );
  }
  const matches = found.map((line) => line.replace(/^\.\//, ""));
  const files = [...new Set(matches.map((line) => line.split(/:\d+:/)[0] ?? ""))];
  const lines = matches.slice(0, maxShownMatches).map((line) => `- ${line}`);
  if (matches.length > maxShownMatches) lines.push("- …");
  const head = context.wording.found(text, matches.length);
  return {
    text: [lines.length > 0 ? `${head}:` : `${head}.`, ...lines].join("\n"),
    files: files.map((path) => (path.startsWith("/") ? path : `${workspace}/${path}`)),
  };
}

function* write(path: string, text: string | undefined, context: StepContext): StepWork {
  const content = text ?? context.text ?? "";
  const [result] = yield [call("write_file", { path, content })];
  if (result?.failed) throw new StepFailed(result.text);
  return { text: context.wording.wrote(path, content.length), files: [path] };
}

function* replace(target: Target, from: string, to: string, context: StepContext): StepWork {
  const paths = yield* filesOf(target, context);
  const results = yield paths.map((path) => call("str_replace", { path, old_str: from, new_str: to }));
  const failed = results.find((result) => result.failed);
  if (failed) throw new StepFailed(failed.text);
  return { text: paths.map((path) => context.wording.replaced(from, to, path)).join("\n"), files: paths };
}

function* run(command: string, context: StepContext): StepWork {
  const [result] = yield [call("bash", { command })];
  if (result?.failed) throw new StepFailed(result.text.trim());
  return { text: `${context.wording.ran(command)}:\n${fenced(result?.text ?? "", context)}` };
}

function* plan(items: readonly string[], context: StepContext): StepWork {
  const todos = items.map((content) => ({ content, status: "pending" }));
  const [result] = yield [call("write_todos", { todos })];
  if (result?.failed) throw new StepFailed(result.text);
  return { text: context.wording.planned(items.length) };
}

/** Work that needs no tool. */
// biome-ignore lint/correctness/useYield: a step without tool calls is a step all the same
function* say(text: () => string): StepWork {
  return { text: text() };
}

/** Starts to work on a step. */
export function workOn(step: Step, words: string, context: StepContext): StepWork {
  switch (step.kind) {
    case "list":
      return list(step.folder, step.endings, context);
    case "read":
      return read(step.target, context);
    case "summarize":
      return summarize(step.target, context);
    case "count":
      return count(step.unit, step.target, context);
    case "search":
      return search(step.text, step.folder, context);
    case "write":
      return write(step.path, step.text, context);
    case "replace":
      return replace(step.target, step.from, step.to, context);
    case "run":
      return run(step.command, context);
    case "plan":
      return plan(step.items, context);
    case "present":
      return present(step.target, context);
    case "calculate":
      return say(() => {
        try {
          return `${step.expression} = ${calculate(step.expression)}`;
        } catch (error) {
          if (error instanceof ArithmeticError) throw new StepFailed(error.message);
          throw error;
        }
      });
    case "help":
      return say(() => context.wording.abilities);
    case "unknown":
      return say(() => `${context.wording.unknown(words)}\n${context.wording.abilities}`);
    default:
      return step satisfies never;
  }
}
