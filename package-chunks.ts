import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const staticImport = /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)";/gm;

/** Every module that is loaded with an entry, dynamic imports left out. */
function loadedWith(entry: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const [, specifier = ""] of readFileSync(path, "utf8").matchAll(staticImport)) {
      visit(resolve(dirname(path), specifier));
    }
  };
  visit(entry);
  return found;
}

/**
 * How the bundle is cut: what the package loads at once is one file. Node takes most of a millisecond for each file,
 * and would have a hundred to load, since every command and every optional part loads others of them.
 */
export function packageChunks(entry: string) {
  const core = loadedWith(resolve(entry));
  return { groups: [{ name: "core", test: (id: string) => core.has(id) }] };
}
