import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CommandLimits } from "../../../actors/sandboxes/command-environment.ts";
import type { SandboxProvider } from "../../../actors/sandboxes/sandbox.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { temporaryStoreFolder } from "./thread-files.ts";

type ProviderOptions = CommandLimits & { readonly env?: Readonly<Record<string, string>> };

/** What every provider of sandboxes on host folders must hold. */
export function describeSandboxProvider(
  name: string,
  create: (options?: ProviderOptions) => SandboxProvider,
): void {
  const acquired = async (options?: ProviderOptions, prefix?: string) => {
    const provider = create(options);
    onTestFinished(() => provider.close());
    const folder = await temporaryStoreFolder(prefix);
    const folders = threadFolders({ folder, threadId: "t" });
    return { provider, folders, folder, sandbox: await provider.acquire({ threadId: "t", folders }) };
  };

  describe(name, () => {
    test("acquiring makes the folders and gives one sandbox a thread, however many ask at once", async () => {
      const { provider, folders, sandbox } = await acquired();
      expect(existsSync(folders.outputs_path)).toBe(true);
      const all = await Promise.all(
        Array.from({ length: 5 }, () => provider.acquire({ threadId: "t", folders })),
      );
      expect(new Set([sandbox, ...all]).size).toBe(1);
      expect(await provider.get(sandbox.id)).toBe(sandbox);
      expect(sandbox).toMatchObject({ threadId: "t" });
    });

    test("a released sandbox is not there any more, and the thread gets the same id again", async () => {
      const { provider, folders, sandbox } = await acquired();
      await provider.release(sandbox.id);
      expect(await provider.get(sandbox.id)).toBeUndefined();
      expect((await provider.acquire({ threadId: "t", folders })).id).toBe(sandbox.id);
    });

    test("commands start in the workspace and see the three folders where the model expects them", async () => {
      const { sandbox, folders } = await acquired();
      const command =
        "pwd; echo in > /mnt/user-data/outputs/a.txt; cat '/mnt/user-data/outputs/a.txt'; ls ../uploads";
      expect(await sandbox.exec(command)).toEqual({
        stdout: "/mnt/user-data/workspace\nin\n",
        stderr: "",
        exitCode: 0,
        truncated: false,
      });
      expect(await readFile(join(folders.outputs_path, "a.txt"), "utf8")).toBe("in\n");
    });

    test("a store folder with blanks, quotes and dollars in its name changes nothing", async () => {
      const { sandbox } = await acquired({}, 'thread fold\'s $HOME "x"-');
      const written = await sandbox.exec(
        "echo hi > \"/mnt/user-data/outputs/b c.txt\" && cat '/mnt/user-data/outputs/b c.txt'",
      );
      expect(written).toMatchObject({ stdout: "hi\n", stderr: "", exitCode: 0 });
      expect((await sandbox.exec("pwd -P")).stdout).toBe("/mnt/user-data/workspace\n");
    });

    test("output and errors show no host path", async () => {
      const { sandbox, folder } = await acquired();
      const { stdout, stderr } = await sandbox.exec(
        "pwd -P; cat /mnt/user-data/workspace/gone; readlink -f .",
      );
      expect(`${stdout}${stderr}`).not.toContain(folder);
      expect(stderr).toContain("/mnt/user-data/workspace/gone");
    });

    test("commands do not see the environment of this process, and see what the options add", async () => {
      process.env.OPENAI_API_KEY = "sk-secret";
      onTestFinished(() => {
        delete process.env.OPENAI_API_KEY;
      });
      const { sandbox } = await acquired({ env: { GREETING: "hello" } });
      const { stdout } = await sandbox.exec("env");
      expect(stdout).not.toContain("sk-secret");
      expect(stdout).toContain("GREETING=hello\n");
    });

    test("the limits of the provider hold: time, output, memory", async () => {
      const { sandbox } = await acquired({
        timeoutMs: 1_500,
        maxOutputBytes: 10,
        maxMemoryBytes: 200 * 1024 ** 2,
      });
      expect(await sandbox.exec("sleep 60")).toMatchObject({ exitCode: 124 });
      expect(await sandbox.exec("echo 0123456789abc")).toMatchObject({
        stdout: "0123456789",
        truncated: true,
      });
      expect((await sandbox.exec("head -c 400M /dev/zero | tail")).exitCode).not.toBe(0);
      expect((await sandbox.exec("ulimit -c")).stdout).toBe("0\n");
    });

    test("a call's own limit and its abort signal hold, and nothing goes on running", async () => {
      const { sandbox, folders } = await acquired();
      expect((await sandbox.exec("sleep 60", { timeoutMs: 200 })).exitCode).toBe(124);
      const abort = new AbortController();
      const running = sandbox.exec("touch started; sleep 60", { signal: abort.signal });
      await expect.poll(() => existsSync(join(folders.workspace_path, "started"))).toBe(true);
      abort.abort();
      expect((await running).exitCode).toBe(130);
    });

    test("files and commands see the same bytes", async () => {
      const { sandbox } = await acquired();
      await sandbox.writeFile("/mnt/user-data/workspace/note.txt", "from the tool");
      expect((await sandbox.exec("cat note.txt; ln -s /mnt/user-data/workspace/note.txt link")).stdout).toBe(
        "from the tool",
      );
      expect(new TextDecoder().decode(await sandbox.readFile("link"))).toBe("from the tool");
    });

    test("a command that fails, does not parse or holds NUL is a result, not a rejection", async () => {
      const { sandbox } = await acquired();
      expect((await sandbox.exec("exit 7")).exitCode).toBe(7);
      expect((await sandbox.exec("if then")).exitCode).toBe(2);
      expect((await sandbox.exec("echo a\0b")).exitCode).toBe(126);
    });
  });
}
