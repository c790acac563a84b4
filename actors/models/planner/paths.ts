import type { Target } from "./step.ts";

export const workspace = "/mnt/user-data/workspace";
export const outputs = "/mnt/user-data/outputs";
const uploads = "/mnt/user-data/uploads";

const endingsByWord: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bmarkdown\b|\bmd files?\b/i, [".md"]],
  [/\btypescript\b|\bts files?\b/i, [".ts", ".tsx"]],
  [/\bjavascript\b|\bjs files?\b/i, [".js", ".mjs"]],
  [/\bpython\b|\bpy files?\b/i, [".py"]],
  [/\bjson\b/i, [".json"]],
  [/\btext files?\b|\btxt files?\b|文本/i, [".txt"]],
  [/\bhtml\b/i, [".html"]],
  [/\bcss\b/i, [".css"]],
  [/\bcsv\b/i, [".csv"]],
];

const quoted = /"([^"]*)"|“([^”]*)”|「([^」]*)」|`([^`]*)`|'([^']*)'/g;
/** A name with an ending, or something with slashes. A number such as 3.5 and a glob are none. */
const pathLike =
  /(?<![*\w])(?:[\w@~.-]*\/)*[\w@~-][\w@~.-]*\.[A-Za-z][A-Za-z0-9]*|(?<![*\w.])\/?(?:[\w@~.-]+\/)+[\w@~.-]*/g;

/** Texts in quotes or backticks, in order. */
export function quotedTexts(text: string): string[] {
  return [...text.matchAll(quoted)].map((match) => match.slice(1).find((part) => part !== undefined) ?? "");
}

/** Things that look like paths, in order, those in quotes too; each once. */
export function pathsIn(text: string): string[] {
  const plain = text.replace(/https?:\/\/\S+/g, " ");
  return [...new Set([...plain.matchAll(pathLike)].map(([path]) => path.replace(/[.,]+$/, "")))];
}

/** File endings that a request names: `markdown`, `*.md`, `.md files`. */
export function endingsIn(text: string): string[] {
  const globs = [...text.matchAll(/(?:\*|(?<=^|\s))(\.[A-Za-z0-9]+)(?=\s|$|[,;。，])/g)].map(
    (match) => match[1] ?? "",
  );
  const named = endingsByWord.flatMap(([word, endings]) => (word.test(text) ? endings : []));
  return [...new Set([...globs, ...named])];
}

/** Path as the tools take it: what is not absolute lies in the workspace. */
export function absolutePath(path: string, base: string = workspace): string {
  const clean = path.replace(/^\.\//, "").replace(/(?<=.)\/+$/, "");
  if (clean === "" || clean === ".") return base;
  if (clean.startsWith("/")) return clean;
  const folder = /^(uploads|outputs)(?=\/|$)/.exec(clean)?.[1];
  return folder ? `/mnt/user-data/${clean}` : `${base}/${clean}`;
}

/** The folder that a request is about: a path with a slash, a word such as `uploads`, or `in <name>`; else the workspace. */
export function folderIn(text: string): string {
  const unquoted = text.replace(quoted, " ");
  const path = pathsIn(unquoted).find((candidate) => !/\.[A-Za-z0-9]+$/.test(candidate));
  if (path) return absolutePath(path);
  if (/\boutputs?\b|输出/.test(unquoted)) return outputs;
  if (/\buploads?\b|\buploaded\b|上传/.test(unquoted)) return uploads;
  const named =
    /\b(?:in|under|of|inside|from)\s+(?:the\s+)?(?:folder\s+|directory\s+)?([\w-]+)(?:\s+(?:folder|directory))?\s*[.?!]?$/i.exec(
      unquoted,
    )?.[1];
  const generic =
    /^(here|this|it|them|workspace|folder|directory|files?|words|lines|characters|current|all|total)$/i;
  if (named && !generic.test(named)) return absolutePath(named);
  const chinese = /([\w-]+)\s*(?:文件夹|目录)/.exec(unquoted)?.[1];
  return chinese ? absolutePath(chinese) : workspace;
}

/** What a step works on: the files it names, all files of a kind, or what came before. */
export function targetIn(text: string): Target {
  const paths = pathsIn(text).filter((path) => /\.[A-Za-z0-9]+$/.test(path));
  if (paths.length > 0) return { kind: "files", paths: paths.map((path) => absolutePath(path)) };
  const endings = endingsIn(text);
  const all = /\b(?:all|every|each)\b.*\bfiles?\b|\bfiles\b.*\b(?:in|under|here)\b|所有|全部/i.test(text);
  if (endings.length > 0 || all) return { kind: "matching", folder: folderIn(text), endings };
  return { kind: "previous" };
}

/** A path in single quotes for a shell, relative where the shell starts. */
export function shellPath(path: string): string {
  const shown = path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
  return `'${shown.replaceAll("'", "'\\''")}'`;
}
