/** What the message becomes when at least one file is accepted. */
interface MessageFact {
  /** What the user typed, as it is kept beside the message. */
  readonly original: string;
}

/** A fact about the files of the newest message. Text is "go" unless a case says otherwise. */
export interface UploadCase {
  readonly id: string;
  readonly what: string;
  readonly onDisk: readonly string[];
  readonly text?: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly uploaded: readonly { readonly filename: string; readonly size: number }[];
  readonly message?: MessageFact;
}

const entry = (filename: string, size: unknown = 1) => ({
  filename,
  size,
  path: `/mnt/user-data/uploads/${filename}`,
});
const a = { filename: "a.txt", size: 1 };

export const uploadCases: readonly UploadCase[] = [
  { id: "UPL-02", what: "no new file empties the field", onDisk: ["old.txt"], kwargs: {}, uploaded: [] },
  {
    id: "UPL-03",
    what: "a file that is not there",
    onDisk: [],
    kwargs: { files: [entry("ghost.txt")] },
    uploaded: [],
  },
  {
    id: "UPL-04",
    what: "one of two is there",
    onDisk: ["a.txt"],
    kwargs: { files: [entry("a.txt"), entry("gone.txt")] },
    uploaded: [a],
    message: { original: "go" },
  },
  {
    id: "UPL-07",
    what: "half uploaded files are invisible",
    onDisk: [".upload-x.part"],
    kwargs: { files: [entry(".upload-x.part")] },
    uploaded: [],
  },
  {
    id: "UPL-08",
    what: "files that are no list",
    onDisk: ["a.txt"],
    kwargs: { files: "not-a-list" },
    uploaded: [],
  },
  {
    id: "UPL-09",
    what: "entries that are no objects",
    onDisk: ["a.txt"],
    kwargs: { files: ["bad", 42, null, entry("a.txt")] },
    uploaded: [a],
    message: { original: "go" },
  },
  {
    id: "UPL-10",
    what: "a size as text",
    onDisk: ["a.txt"],
    kwargs: { files: [{ filename: "a.txt", size: "2048" }] },
    uploaded: [{ filename: "a.txt", size: 2048 }],
    message: { original: "go" },
  },
  {
    id: "UPL-11",
    what: "no size",
    onDisk: ["a.txt"],
    kwargs: { files: [{ filename: "a.txt" }] },
    uploaded: [{ filename: "a.txt", size: 0 }],
    message: { original: "go" },
  },
  {
    id: "UPL-14",
    what: "an original text that is there is kept",
    onDisk: ["a.txt"],
    text: "typed",
    kwargs: { original_user_content: "earlier text", files: [entry("a.txt")] },
    uploaded: [a],
    message: { original: "earlier text" },
  },
  {
    id: "UPL-15",
    what: "an original that is no text is replaced",
    onDisk: ["a.txt"],
    text: "typed",
    kwargs: { original_user_content: [{ x: 1 }], files: [entry("a.txt")] },
    uploaded: [a],
    message: { original: "typed" },
  },
];

/** Facts about the tool that lists earlier uploads. Files are on disk from the oldest to the newest. */
export const listUploadsCases = [
  {
    id: "UPL-19",
    current: ["new.txt"],
    onDisk: ["a.txt", "b.txt", "new.txt"],
    args: {},
    files: ["b.txt", "a.txt"],
    total: 2,
    truncated: false,
  },
  {
    id: "UPL-21",
    current: [],
    onDisk: ["a.txt", "b.txt", "c.txt"],
    args: { max_results: 2 },
    files: ["c.txt", "b.txt"],
    total: 3,
    truncated: true,
  },
] as const;
