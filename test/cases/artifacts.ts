/**
 * Facts about `present_files`. The outputs hold `r.md`, `sub/c.png` and `link.txt` (a link to `n.txt` in the workspace);
 * `{OUT}` and `{WORK}` stand for the host folders. `null`: an error, and nothing is presented.
 */
export const presentFilesCases: readonly {
  readonly id: string;
  readonly what: string;
  readonly given: readonly string[];
  readonly presented: readonly string[] | null;
}[] = [
  {
    id: "ART-01",
    what: "a virtual path",
    given: ["/mnt/user-data/outputs/r.md"],
    presented: ["/mnt/user-data/outputs/r.md"],
  },
  {
    id: "ART-02",
    what: "a host path inside the outputs",
    given: ["{OUT}/r.md"],
    presented: ["/mnt/user-data/outputs/r.md"],
  },
  { id: "ART-03", what: "a host path outside of them", given: ["{WORK}/n.txt"], presented: null },
  {
    id: "ART-04",
    what: "a file of the workspace",
    given: ["/mnt/user-data/workspace/n.txt"],
    presented: null,
  },
  {
    id: "ART-06",
    what: "no slash in front, and dots",
    given: ["mnt/user-data/outputs/sub/../r.md"],
    presented: ["/mnt/user-data/outputs/r.md"],
  },
  {
    id: "ART-07",
    what: "dots that lead out",
    given: ["/mnt/user-data/outputs/../workspace/n.txt"],
    presented: null,
  },
  {
    id: "ART-08",
    what: "a link that leads out",
    given: ["/mnt/user-data/outputs/link.txt"],
    presented: null,
  },
  {
    id: "ART-12",
    what: "one file by two names: the field, not the tool, keeps it once",
    given: ["/mnt/user-data/outputs/r.md", "{OUT}/r.md"],
    presented: ["/mnt/user-data/outputs/r.md", "/mnt/user-data/outputs/r.md"],
  },
];
