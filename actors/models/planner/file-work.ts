import { absolutePath, outputs, shellPath, workspace } from "./paths.ts";
import type { Target } from "./step.ts";
import { type CallResult, type StepContext, StepFailed, type StepWork, type WantedCall } from "./work.ts";

/** Folders that are looked into, at most, when a step walks a tree. */
const maxFolderCalls = 40;
/** Levels that one `ls` lists, where the tool can be told. */
const listedLevels = 4;
/** Files that one step reads one by one, at most. */
export const maxFilesRead = 50;
const skipped = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/;

export function call(name: string, args: Readonly<Record<string, unknown>>): WantedCall {
  return { name, args };
}

/** Lines of a tool's answer that name entries of `folder`, as absolute paths; folders end with a slash. */
function entriesOf(text: string, folder: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !line.startsWith("(") && !line.startsWith("…"))
    .map((line) => (line.startsWith("/") ? line : `${folder}/${line}`))
    .filter((path) => path.replace(/\/$/, "") !== folder);
}

function folderOf(path: string): string {
  return path.replace(/\/$/, "").replace(/\/[^/]*$/, "");
}

/** All files below `folder`, sorted, by as many rounds of `ls` as the tree is deep. */
export function* walk(
  folder: string,
): Generator<readonly WantedCall[], readonly string[], readonly CallResult[]> {
  const files = new Set<string>();
  const seen = new Set<string>([folder]);
  let open = [folder];
  let calls = 0;
  while (open.length > 0 && calls < maxFolderCalls) {
    const round: string[] = open.slice(0, maxFolderCalls - calls);
    calls += round.length;
    const results = yield round.map((path) => call("ls", { path, depth: listedLevels }));
    const entries = results.flatMap((result, index) => {
      if (result.failed && index === 0 && round[0] === folder) throw new StepFailed(result.text);
      return result.failed ? [] : entriesOf(result.text, round[index] ?? folder);
    });
    const shown = entries.filter((path) => !skipped.test(path));
    const parents = new Set(shown.map(folderOf));
    const folders = shown.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
    for (const path of shown) if (!path.endsWith("/") && !parents.has(path)) files.add(path);
    // A folder whose entries were listed along with it needs no call of its own.
    open = folders.filter((path) => !seen.has(path) && !parents.has(path));
    for (const path of folders) seen.add(path);
  }
  return [...files].sort();
}

export function ofKind(files: readonly string[], endings: readonly string[]): readonly string[] {
  return endings.length === 0
    ? files
    : files.filter((path) => endings.some((ending) => path.endsWith(ending)));
}

/** The files that a step works on. */
export function* filesOf(
  target: Target,
  context: StepContext,
): Generator<readonly WantedCall[], readonly string[], readonly CallResult[]> {
  if (target.kind === "files") {
    // A bare name means the file that an earlier step gave, when there is one of that name.
    return target.paths.map((path) => {
      const name = path.startsWith(`${workspace}/`) ? path.slice(workspace.length) : undefined;
      return context.files.find((known) => known === path || (name && known.endsWith(name))) ?? path;
    });
  }
  if (target.kind === "matching") return ofKind(yield* walk(target.folder), target.endings);
  if (context.files.length === 0) throw new StepFailed(context.wording.nothingBefore);
  return context.files;
}

/** Text of each file, in order; a file that cannot be read gives its error. */
export function* readAll(
  paths: readonly string[],
): Generator<
  readonly WantedCall[],
  readonly { path: string; text: string; failed: boolean }[],
  readonly CallResult[]
> {
  const wanted = paths.slice(0, maxFilesRead);
  const results = yield wanted.map((path) => call("read_file", { path }));
  return wanted.map((path, index) => ({
    path,
    // An empty file is shown as such.
    text: results[index]?.text === "(empty)" ? "" : (results[index]?.text ?? ""),
    failed: results[index]?.failed ?? true,
  }));
}

/** Shows files to the user; those outside the outputs folder are copied there first. */
export function* present(target: Target, context: StepContext): StepWork {
  const files = yield* filesOf(target, context);
  const outside = files.filter((path) => !path.startsWith(`${outputs}/`));
  const copyOf = (path: string) => absolutePath(path.split("/").at(-1) ?? path, outputs);
  if (outside.length > 0 && context.has("bash")) {
    const copies = outside.map((path) => `cp ${shellPath(path)} ${shellPath(copyOf(path))}`);
    const [result] = yield [
      call("bash", { command: `mkdir -p ${shellPath(outputs)} && ${copies.join(" && ")}` }),
    ];
    if (result?.failed) throw new StepFailed(result.text);
  } else if (outside.length > 0) {
    const texts = yield* readAll(outside);
    const unread = texts.find((file) => file.failed);
    if (unread) throw new StepFailed(unread.text);
    const results = yield texts.map(({ path, text }) =>
      call("write_file", { path: copyOf(path), content: text }),
    );
    const unwritten = results.find((result) => result.failed);
    if (unwritten) throw new StepFailed(unwritten.text);
  }
  const shown = files.map((path) => (outside.includes(path) ? copyOf(path) : path));
  const [result] = yield [call("present_files", { filepaths: shown })];
  if (result?.failed) throw new StepFailed(result.text);
  return {
    text: `${context.wording.presented(shown.length)}:\n${shown.map((path) => `- ${path}`).join("\n")}`,
    files: shown,
  };
}
