import { homedir } from "node:os";

/** Home folders of people, on any system. */
const homes = /(?:\/home|\/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/\s"'`:]+/g;

/** Where this process works, and who works there, is nobody's business outside of it; virtual paths stay. */
export function withoutHostPaths(text: string): string {
  const known = [process.cwd(), homedir()].reduce(
    (rest, path) => (path !== "/" && path !== "" ? rest.replaceAll(path, "…") : rest),
    text,
  );
  return known.replaceAll(homes, "…");
}
