import { mkdir, open, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifactsMiddleware } from "../../actors/middleware/artifacts.ts";
import { threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { uploadsMiddleware } from "../../actors/middleware/uploads.ts";
import { threadFolders } from "../../actors/sandboxes/thread-folders.ts";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { bytesOf } from "./read-frames.ts";
import { serveAgent } from "./served-agents.ts";

const mebibyte = 1024 * 1024;
const middleware = [threadDataMiddleware(), uploadsMiddleware(), artifactsMiddleware()];

async function serveUploads(uploads = {}) {
  const served = await serveAgent({
    answers: (messages) => `I see ${messages.at(-1)?.text.includes("report.txt")}.`,
    agent: { middleware },
    server: { uploads },
  });
  const { thread_id: id } = await served.client.threads.create();
  const folders = threadFolders({ folder: served.store.folder, threadId: id });
  const send = (files: readonly (readonly [name: string, text: string | Blob])[], query = "") => {
    const body = new FormData();
    for (const [name, text] of files) body.append("files", new Blob([text]), name);
    return fetch(`${served.server.url}/log/v1/threads/${id}/uploads${query}`, { method: "POST", body });
  };
  const names = () => readdir(folders.uploads_path).catch(() => []);
  return { ...served, id, folders, send, names };
}

test("uploaded files are in the thread's folder, and a message that names them tells the agent", async () => {
  const { client, request, id, send, folders } = await serveUploads();
  const answer = await send([
    ["report.txt", "numbers"],
    ["数据.csv", "a,b"],
  ]);
  expect(answer.status).toBe(201);
  const { files } = (await answer.json()) as { files: unknown[] };
  expect(files).toEqual([
    { filename: "report.txt", size: 7, path: "/mnt/user-data/uploads/report.txt", extension: ".txt" },
    { filename: "数据.csv", size: 3, path: "/mnt/user-data/uploads/数据.csv", extension: ".csv" },
  ]);
  expect(await readFile(join(folders.uploads_path, "report.txt"), "utf8")).toBe("numbers");
  const message = { type: "human", content: "Read it", additional_kwargs: { files: [files[0]] } };
  const values = await client.runs.wait(id, "agent", { input: { messages: [message] } });
  expect(values).toMatchObject({ uploaded_files: [files[0]] });
  expect(JSON.stringify(values)).toContain("I see true.");
  const listed = await (await request(`/log/v1/threads/${id}/uploads`)).json();
  expect(listed).toMatchObject({
    files: expect.arrayContaining(files),
    limits: { maxFiles: 10, maxFileBytes: 50 * mebibyte, maxTotalBytes: 100 * mebibyte },
  });
  const path = `/log/v1/threads/${id}/uploads/report.txt`;
  const bytes = await request(path);
  expect(bytes.headers.get("content-security-policy")).toContain("sandbox");
  expect(await bytes.text()).toBe("numbers");
  expect((await request(path, { method: "DELETE" })).status).toBe(204);
  expect((await request(path)).status).toBe(404);
});

test("beyond the limits nothing is kept: too many, too large, too large together", async () => {
  const { send, names } = await serveUploads({ maxFiles: 2, maxFileBytes: 1_000, maxTotalBytes: 1_500 });
  const tries: [string, Parameters<typeof send>[0]][] = [
    [
      "More than 2 files",
      [
        ["a", "1"],
        ["b", "2"],
        ["c", "3"],
      ],
    ],
    [
      "larger than 1000 bytes",
      [
        ["small", "1"],
        ["large", "x".repeat(1_001)],
      ],
    ],
    [
      "larger than 1500 bytes together",
      [
        ["a", "x".repeat(900)],
        ["b", "x".repeat(900)],
      ],
    ],
    ["larger than", [["huge", new Blob([new Uint8Array(3 * mebibyte)])]]],
  ];
  for (const [reason, files] of tries) {
    const answer = await send(files);
    expect([reason, answer.status, await answer.text()]).toEqual([
      reason,
      413,
      expect.stringContaining(reason),
    ]);
    expect(await names()).toEqual([]);
  }
  expect((await send([["a", "x".repeat(1_000)]])).status).toBe(201);
  expect(await names()).toEqual(["a"]);
});

test("names that lead elsewhere, doubled names and broken forms are refused, and nothing is kept", async () => {
  const { request, id, send, names, folders } = await serveUploads();
  for (const name of ["../x", "a/b", "..", ".upload-1.part", "a\\b", `${"n".repeat(256)}`]) {
    const answer = await send([
      ["fine.txt", "1"],
      [name, "2"],
    ]);
    expect([name, answer.status]).toEqual([name, 422]);
  }
  expect(
    (
      await send([
        ["a", "1"],
        ["a", "2"],
      ])
    ).status,
  ).toBe(422);
  const raw = (type: string, body: string) =>
    request(`/log/v1/threads/${id}/uploads`, { method: "POST", body, headers: { "content-type": type } });
  expect((await raw("application/json", "{}")).status).toBe(415);
  expect((await raw("multipart/form-data", "x")).status).toBe(415);
  expect((await raw("multipart/form-data; x=y", "x")).status).toBe(400);
  expect((await raw("multipart/form-data; boundary=b", "--b\r\nnonsense")).status).toBe(400);
  expect((await raw("multipart/form-data; boundary=b", "--b--\r\n")).status).toBe(422);
  expect(await names()).toEqual([]);
  // A link that a sandbox left there is replaced, never followed.
  await writeFile(join(folders.outputs_path, "../target"), "untouched").catch(async () => {
    await mkdir(folders.outputs_path, { recursive: true });
    await writeFile(join(folders.outputs_path, "../target"), "untouched");
  });
  await symlink("../target", join(folders.uploads_path, "link.txt"));
  expect((await request(`/log/v1/threads/${id}/uploads/link.txt`)).status).toBe(404);
  expect((await send([["link.txt", "new"]])).status).toBe(201);
  expect(await readFile(join(folders.outputs_path, "../target"), "utf8")).toBe("untouched");
});

test("a user's uploads are where the runs of that user look", async () => {
  const { client, store, id, send } = await serveUploads();
  const answer = await send([["report.txt", "mine"]], "?user_id=ada");
  expect(answer.status).toBe(201);
  const { files } = (await answer.json()) as { files: unknown[] };
  const message = { type: "human", content: "Read it", additional_kwargs: { files } };
  const values = await client.runs.wait(id, "agent", {
    input: { messages: [message] },
    context: { user_id: "ada" },
  });
  expect(values).toMatchObject({ uploaded_files: files });
  const { uploads_path: folder } = threadFolders({ folder: store.folder, threadId: id, userId: "ada" });
  await client.threads.delete(id);
  expect(await readdir(folder).catch(() => "gone")).toBe("gone");
});

test("a presented file of more than 100 MB streams, and a reader that leaves early costs nothing", async () => {
  const { request, agent, id, folders } = await serveUploads();
  await mkdir(folders.outputs_path, { recursive: true });
  const size = 120 * mebibyte;
  const file = await open(join(folders.outputs_path, "film.html"), "w");
  await file.write("<script>", 0);
  await file.write("end", size - 3);
  await file.close();
  await agent.thread(id).record([ArtifactsPresented({ paths: ["/mnt/user-data/outputs/film.html"] })]);
  const path = `/log/v1/threads/${id}/artifacts?path=/mnt/user-data/outputs/film.html`;
  const before = process.memoryUsage().rss;
  const whole = await request(path);
  expect(whole.headers.get("content-type")).toBe("application/octet-stream");
  expect(whole.headers.get("content-disposition")).toContain("attachment");
  expect(Number(whole.headers.get("content-length"))).toBe(size);
  let read = 0;
  let grown = 0;
  for await (const bytes of bytesOf(whole)) {
    read += bytes.byteLength;
    grown = Math.max(grown, process.memoryUsage().rss - before);
  }
  expect(read).toBe(size);
  expect(grown).toBeLessThan(100 * mebibyte);
  const part = await request(path);
  for await (const _ of bytesOf(part)) break;
  expect((await request("/ok")).status).toBe(200);
}, 60_000);
