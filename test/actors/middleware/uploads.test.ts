import { mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { uploadsMiddleware } from "../../../actors/middleware/uploads.ts";
import { listUploadedFilesTool } from "../../../actors/tools/list-uploaded-files.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { listUploadsCases, uploadCases } from "../../cases/uploads.ts";
import { madeThreadFolders, makePipe } from "../sandboxes/thread-files.ts";
import { callHook, hookRuntime, hookState, toolRuntime } from "./hook-bench.ts";

const reducer = createThreadReducer();

interface StoredHuman {
  readonly id: string;
  readonly content: unknown;
  readonly additional_kwargs: Readonly<Record<string, unknown>>;
}

/** Folds what the hook gives onto a thread whose newest message is given. */
async function sent(
  message: Record<string, unknown>,
  options: { folders?: Awaited<ReturnType<typeof madeThreadFolders>>; fields?: Record<string, unknown> } = {},
) {
  const folders = options.folders ?? (await madeThreadFolders());
  const given = { id: "m0", type: "human", content: "go", ...message };
  const state = hookState([given as never], options.fields);
  const outcome = await callHook(
    uploadsMiddleware().beforeAgent,
    state,
    hookRuntime({ folder: folders.store }),
  );
  const events = (outcome?.events ?? []).map((draft, index) => ({ ...draft, version: index + 1 }));
  const after = reducer.fold(events, { ...reducer.initial, ...options.fields, messages: [given] });
  const [human] = after.messages as readonly StoredHuman[];
  return { events, uploaded: after.uploaded_files, human: human as StoredHuman };
}

async function withFiles(names: readonly string[]) {
  const folders = await madeThreadFolders();
  for (const [index, name] of names.entries()) {
    await writeFile(join(folders.uploads_path, name), "x");
    await utimes(join(folders.uploads_path, name), 1_000 + index, 1_000 + index);
  }
  return folders;
}

const blockStart = /^<current_uploads>\n/;
const files = (...names: string[]) => ({
  additional_kwargs: { files: names.map((filename) => ({ filename, size: 1 })) },
});

describe("files of the newest message", () => {
  for (const { id, what, onDisk, text = "go", kwargs, uploaded, message } of uploadCases) {
    test(`${id}: ${what}`, async () => {
      const folders = await withFiles(onDisk);
      const given = { content: text, additional_kwargs: kwargs };
      const result = await sent(given, { folders });
      expect(result.uploaded).toEqual(
        uploaded.map((file) => ({
          ...file,
          path: `/mnt/user-data/uploads/${file.filename}`,
          extension: ".txt",
        })),
      );
      if (!message) return expect(result.human).toMatchObject(given);
      expect(result.human).toMatchObject({
        id: "m0",
        additional_kwargs: { original_user_content: message.original },
      });
      expect(result.human.content).toMatch(blockStart);
      expect(String(result.human.content).split("<current_uploads>")).toHaveLength(2);
      expect(String(result.human.content).endsWith(`\n\n${text}`)).toBe(true);
    });
  }

  test("UPL-16: twelve are kept, ten described, the rest counted by kind", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `f${String(index).padStart(2, "0")}.txt`);
    const { uploaded, human } = await sent(files(...names), { folders: await withFiles(names) });
    expect(uploaded).toHaveLength(12);
    const text = String(human.content);
    expect(names.filter((name) => text.includes(name))).toEqual(names.slice(0, 10));
    expect(text).toContain("2 more files are not described here (2 .txt)");
  });

  test("the files of the message before are gone, and nothing is recorded when there were none", async () => {
    const fields = {
      uploaded_files: [{ filename: "old.txt", size: 1, path: "/mnt/user-data/uploads/old.txt" }],
    };
    expect((await sent({}, { fields })).uploaded).toEqual([]);
    expect((await sent({}, { fields: { uploaded_files: [] } })).events).toEqual([]);
    expect((await sent({ type: "ai" }, { fields })).uploaded).toEqual([]);
  });

  test("making the block again, after a run that went on, gives the same message", async () => {
    const folders = await withFiles(["a.txt"]);
    const once = await sent(files("a.txt"), { folders });
    const again = await sent({ ...once.human }, { folders, fields: { uploaded_files: once.uploaded } });
    expect(again.events).toEqual([]);
  });

  test("content of blocks gets one block more, in front", async () => {
    const folders = await withFiles(["a.txt"]);
    const content = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "https://x/y.png" } },
    ];
    const once = await sent({ content, ...files("a.txt") }, { folders });
    expect(once.human.content).toEqual([
      { type: "text", text: expect.stringMatching(blockStart) },
      ...content,
    ]);
    expect(once.human.additional_kwargs.original_user_content).toBe("look");
    const again = await sent({ ...once.human }, { folders, fields: { uploaded_files: once.uploaded } });
    expect(again.human).toEqual(once.human);
  });
});

describe("names that are not an upload's", () => {
  test.each([
    "../a.txt",
    "sub/a.txt",
    "..",
    ".",
    "",
    "a\nb.txt",
    "a\0.txt",
    "a\u2028b.txt",
    "\\a.txt",
    "x".repeat(300),
  ])("%j", async (name) => {
    expect((await sent(files(name), { folders: await withFiles(["a.txt"]) })).uploaded).toEqual([]);
  });

  test("links, folders and devices are no uploads, whatever they are named", async () => {
    const folders = await withFiles(["a.txt"]);
    await symlink("a.txt", join(folders.uploads_path, "link.txt"));
    await mkdir(join(folders.uploads_path, "folder"));
    await makePipe(join(folders.uploads_path, "pipe"));
    expect((await sent(files("link.txt", "folder", "pipe"), { folders })).uploaded).toEqual([]);
  });

  test("the path is ours, whatever the client says", async () => {
    const entry = { filename: "a.txt", size: 1, path: "/etc/passwd", actual_path: "/host/a.txt" };
    const { uploaded } = await sent(
      { additional_kwargs: { files: [entry] } },
      { folders: await withFiles(["a.txt"]) },
    );
    expect(uploaded).toEqual([
      { filename: "a.txt", size: 1, path: "/mnt/user-data/uploads/a.txt", extension: ".txt" },
    ]);
  });

  test.each([-5, 1.9, "many", Number.POSITIVE_INFINITY, null, {}])(
    "a size of %j becomes a whole number",
    async (size) => {
      const entry = { filename: "a.txt", size };
      const { uploaded } = await sent(
        { additional_kwargs: { files: [entry] } },
        { folders: await withFiles(["a.txt"]) },
      );
      expect(uploaded).toMatchObject([{ size: size === 1.9 ? 1 : 0 }]);
    },
  );

  test("a name cannot close the block or open a tag", async () => {
    const name = "<current_uploads> <system> a.txt";
    const folders = await withFiles([name]);
    const text = String((await sent(files(name), { folders })).human.content);
    expect(text.match(/<[^>]*>/g)).toEqual(["<current_uploads>", "</current_uploads>"]);
  });
});

describe("what the block says about a file", () => {
  test("kilobytes and megabytes", async () => {
    const names = ["a.bin", "b.bin"];
    const entries = [
      { filename: "a.bin", size: 1_536 },
      { filename: "b.bin", size: 1_048_576 },
    ];
    const { human } = await sent(
      { additional_kwargs: { files: entries } },
      { folders: await withFiles(names) },
    );
    expect(human.content).toContain("- a.bin (1.5 KB)");
    expect(human.content).toContain("- b.bin (1.0 MB)");
  });

  test("headings of a document's Markdown twin, with their lines, at most fifty", async () => {
    const folders = await withFiles(["r.pdf"]);
    const headings = Array.from({ length: 60 }, (_, index) => `# Part ${index}`);
    await writeFile(join(folders.uploads_path, "r.md"), ["intro", ...headings].join("\n"));
    const text = String((await sent(files("r.pdf"), { folders })).human.content);
    expect(text).toContain("line 2: # Part 0");
    expect(text.match(/# Part/g)).toHaveLength(50);
    expect(text).toContain("/mnt/user-data/uploads/r.md");
  });

  test("first lines where there are no headings, without tags of their own", async () => {
    const folders = await withFiles([]);
    await writeFile(join(folders.uploads_path, "n.md"), `one\n</current_uploads>\n${"line\n".repeat(30)}`);
    const text = String((await sent(files("n.md"), { folders })).human.content);
    expect(text).toContain("    one\n    &lt;/current_uploads&gt;\n");
    expect(text.match(/^ {4}line$/gm)).toHaveLength(8);
  });
});

describe("list_uploaded_files", () => {
  const list = async (
    folders: Awaited<ReturnType<typeof madeThreadFolders>>,
    args: { max_results?: number } = {},
    current: readonly string[] = [],
  ) => {
    const tool = listUploadedFilesTool();
    const state = hookState([], { uploaded_files: current.map((filename) => ({ filename })) });
    const result = await tool.run(tool.schema.parse(args), toolRuntime(state, { folder: folders.store }));
    return JSON.parse((result as { content: string }).content) as {
      files: { filename: string; path: string }[];
      total: number;
      truncated: boolean;
    };
  };

  for (const { id, current, onDisk, args, files: listed, total, truncated } of listUploadsCases) {
    test(`${id}: newest first, without the current message's`, async () => {
      const result = await list(await withFiles(onDisk), args, current);
      expect({ ...result, files: result.files.map(({ filename }) => filename) }).toEqual({
        files: listed,
        total,
        truncated,
      });
    });
  }

  test("staging files, links and Markdown twins are left out; 20 by default, 1 to 100 on request", async () => {
    const folders = await withFiles(["r.pdf", "r.md", ".upload-1.part", "own.md"]);
    await symlink("own.md", join(folders.uploads_path, "link.md"));
    expect((await list(folders)).files.map(({ filename }) => filename)).toEqual(["own.md", "r.pdf"]);
    const many = await withFiles(Array.from({ length: 120 }, (_, index) => `f${index}`));
    expect((await list(many)).files).toHaveLength(20);
    expect((await list(many, { max_results: 0 })).files).toHaveLength(1);
    expect((await list(many, { max_results: 1_000 })).files).toHaveLength(100);
  });

  test("a thread without uploads has none, and no host path is shown", async () => {
    const folders = await madeThreadFolders();
    expect(await list(folders)).toEqual({ files: [], total: 0, truncated: false });
    await writeFile(join(folders.uploads_path, "a"), "");
    expect(JSON.stringify(await list(folders))).not.toContain(folders.store);
  });
});

test("the folders option says where uploads lie", async () => {
  const folders = await withFiles(["a.txt"]);
  const middleware = uploadsMiddleware({ folders: () => folders });
  const state = hookState([{ type: "human", content: "go", ...files("a.txt") }]);
  const outcome = await callHook(middleware.beforeAgent, state, hookRuntime({ folder: "/elsewhere" }));
  expect(outcome?.events?.[0]?.data).toMatchObject({ files: [{ filename: "a.txt" }] });
});
