import { chmod, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFileKeyStore, KeyFileOpenToOthersError } from "../../../events/keys/files.ts";
import { describeKeyStore } from "./key-store.contract.ts";

let root: string;
let folder: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "threadfold-keys-"));
});
beforeEach(() => {
  folder = join(root, `${count++}`);
});
afterAll(() => rm(root, { recursive: true, force: true }));

describeKeyStore("files", async () => createFileKeyStore(folder));

describe("key files", () => {
  const secret = new Uint8Array(Buffer.from("a secret of thirty-two characters"));
  const onlyFile = async () => join(folder, (await readdir(folder))[0] ?? "");

  test("can be read by their owner only, and leave nothing else in the folder", async () => {
    await createFileKeyStore(folder).create("thread-a", secret);
    expect(await readdir(folder)).toHaveLength(1);
    expect((await stat(await onlyFile())).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  });

  test("are refused when others can read them", async () => {
    const keys = createFileKeyStore(folder);
    await keys.create("thread-a", secret);
    await chmod(await onlyFile(), 0o640);
    await expect(keys.read("thread-a")).rejects.toThrow(KeyFileOpenToOthersError);
  });

  test.each(["destroyed", "replaced"])("are overwritten on the disk when the key is %s", async (how) => {
    const keys = createFileKeyStore(folder);
    await keys.create("thread-a", secret);
    // Whoever has the old file open sees what became of its bytes.
    const old = await open(await onlyFile(), "r");
    if (how === "destroyed") await keys.destroy("thread-a");
    else await keys.replace("thread-a", secret, new Uint8Array(32));
    const left = await old.readFile();
    await old.close();
    expect(left.length).toBeGreaterThan(0);
    expect(left.includes(Buffer.from(secret).toString("base64"))).toBe(false);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test("stay locked for others while a dead process's lock is there, and the message names the file", async () => {
    const keys = createFileKeyStore(folder);
    await keys.create("thread-a", secret);
    await writeFile(`${await onlyFile()}.lock`, "");
    await expect(keys.destroy("thread-a")).rejects.toThrow(/\.lock is there since/);
    expect((await readFile(await onlyFile(), "utf8")).length).toBeGreaterThan(20);
  });
});
