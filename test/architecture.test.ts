import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The layers, innermost first. A file may import from its own layer and from those before it. */
const layers = ["events", "reducers", "projections", "actors", "apps"] as const;

/** The fuzz kit looks into every layer. `bench`, `examples` and `test` stand outside the package. */
const folders = [...layers, "testing", "bench", "examples", "test"] as const;

const notOurs = new Set(["node_modules", "dist", "assets", "fixtures"]);

/** Path of every file below `folder`, relative to the root, with forward slashes. */
function filesIn(folder: string): string[] {
  const absolute = join(root, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : filesIn(path);
    return [path];
  });
}

function isSource(path: string): boolean {
  return /\.(ts|tsx|mts)$/.test(path);
}

/** Module specifiers of all imports in a file: static, dynamic, type-only, and re-exports. */
function specifiersIn(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  return ts.preProcessFile(text, true, true).importedFiles.map((file) => file.fileName);
}

/** Where a relative specifier leads, from the root of the package; `undefined` for packages. */
function pathOfImport(importer: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return relative(root, resolve(root, dirname(importer), specifier))
    .split(sep)
    .join("/");
}

function isPackage(specifier: string, name: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`);
}

/** `file -> import` for every import that `forbidden` picks out. */
function violations(files: string[], forbidden: (file: string, specifier: string) => boolean): string[] {
  return files
    .filter(isSource)
    .flatMap((file) =>
      specifiersIn(file).flatMap((specifier) =>
        forbidden(file, specifier) ? [`${file} -> ${specifier}`] : [],
      ),
    );
}

describe("dependencies point one way: apps → actors → projections → reducers → events", () => {
  test.each(layers)("%s imports only from itself and the layers below it", (layer) => {
    const allowed: readonly string[] = layers.slice(0, layers.indexOf(layer) + 1);
    const found = violations(filesIn(layer), (file, specifier) => {
      if (isPackage(specifier, "threadfold")) return true;
      const target = pathOfImport(file, specifier);
      if (target === undefined) return false;
      // Apps start what the package exports: its entry point, and the fuzz kit behind `threadfold fuzz`.
      if (layer === "apps" && (target === "index.ts" || target === "package.json")) return false;
      if (layer === "apps" && target.startsWith("testing/")) return false;
      return !allowed.includes(target.split("/")[0] ?? "");
    });
    expect(found).toEqual([]);
  });

  test("the package imports nothing from its tests, benchmarks and examples", () => {
    const outside = ["test", "bench", "examples"];
    const entryPoint = existsSync(join(root, "index.ts")) ? ["index.ts"] : [];
    const found = violations([...entryPoint, ...filesIn("testing")], (file, specifier) =>
      outside.includes(pathOfImport(file, specifier)?.split("/")[0] ?? ""),
    );
    expect(found).toEqual([]);
  });
});

describe("the pure part stays pure", () => {
  test("reducers and event definitions import nothing from Node", () => {
    const needsNode = ["events/hash-chain.ts", "events/open-store.ts"];
    const definitions = filesIn("events").filter(
      (path) => path.split("/").length === 2 && !needsNode.includes(path),
    );
    const found = violations([...definitions, ...filesIn("reducers")], (_, specifier) =>
      isNodeModule(specifier),
    );
    expect(found).toEqual([]);
  });

  test("only actors and the fuzz kit know XState", () => {
    const others = folders.filter((folder) => !["actors", "testing", "test"].includes(folder));
    const files = ["index.ts", ...others.flatMap(filesIn)].filter((path) => existsSync(join(root, path)));
    expect(violations(files, (_, specifier) => isPackage(specifier, "xstate"))).toEqual([]);
  });
});

describe("names", () => {
  const paths = folders.flatMap(filesIn);

  test("files and folders are kebab-case", () => {
    const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
    const sources = paths.filter(isSource);
    expect(sources.filter((path) => !path.split("/").every((part) => kebabCase.test(part)))).toEqual([]);
  });

  test("no file or folder is a drawer for leftovers", () => {
    const drawers = new Set(["utils", "util", "helpers", "helper", "types", "common"]);
    const found = paths.filter((path) =>
      path.split("/").some((part) => drawers.has(part.split(".")[0] ?? "")),
    );
    expect(found).toEqual([]);
  });
});

function isNodeModule(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}
