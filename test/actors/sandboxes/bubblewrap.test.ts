import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type BubblewrapOptions,
  BubblewrapUnavailableError,
  bubblewrapSandboxProvider,
  probeBubblewrap,
} from "../../../actors/sandboxes/bubblewrap.ts";
import { chooseSandboxProvider } from "../../../actors/sandboxes/choose-provider.ts";
import { describeSandboxProvider } from "./sandbox-provider.contract.ts";
import { madeThreadFolders } from "./thread-files.ts";

const probe = await probeBubblewrap();
const required = process.env.THREADFOLD_REQUIRE_SYSTEM === "1";
if (!probe.works) process.stderr.write(`bubblewrap tests are skipped: ${probe.reason}\n`);

test("bubblewrap is there when the system's tools are required", () => {
  // A kernel that forbids user namespaces is no missing tool.
  expect(!required || probe.works || !probe.missing).toBe(true);
});

const acquired = async (options?: BubblewrapOptions) => {
  const provider = bubblewrapSandboxProvider(options);
  onTestFinished(() => provider.close());
  const folders = await madeThreadFolders();
  return { sandbox: await provider.acquire({ threadId: "t", folders }), folders };
};

describe.skipIf(!probe.works)("with bubblewrap", () => {
  describeSandboxProvider("bubblewrap provider", bubblewrapSandboxProvider);

  test("commands see the thread's folders and system folders, nothing else of the machine", async () => {
    const { sandbox, folders } = await acquired();
    await writeFile(join(folders.store, "secret"), "s");
    const { stdout } = await sandbox.exec("ls -A / /mnt/user-data /home /root /tmp 2>/dev/null | sort -u");
    const visible = stdout.split("\n").filter((line) => /^[a-z0-9-]+$/.test(line));
    const system = [
      "bin",
      "dev",
      "etc",
      "lib",
      "lib32",
      "lib64",
      "libx32",
      "mnt",
      "proc",
      "sbin",
      "tmp",
      "usr",
    ];
    expect(visible.filter((name) => ![...system, "workspace", "uploads", "outputs"].includes(name))).toEqual(
      [],
    );
    expect((await sandbox.exec(`cat ${folders.store}/secret`)).exitCode).not.toBe(0);
    expect((await sandbox.exec("echo x > /usr/x")).exitCode).not.toBe(0);
    expect(sandbox.isolated).toBe(true);
  });

  test("other processes, their environments and this one's command line are out of sight", async () => {
    const { sandbox, folders } = await acquired();
    const { stdout } = await sandbox.exec(
      "cat /proc/*/cmdline | base64 -w0; echo; ls /proc | grep -c '^[0-9]'",
    );
    const [encoded = "", count = ""] = stdout.split("\n");
    expect(Buffer.from(encoded, "base64").toString()).not.toContain(folders.store);
    expect(Number(count)).toBeLessThan(12);
  });

  test("there is no network unless it is asked for", async () => {
    const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
    const without = await acquired();
    expect((await without.sandbox.exec(ask)).stdout).toBe("");
    const withNetwork = await acquired({ network: true });
    expect((await withNetwork.sandbox.exec(ask)).stdout).toContain("reached");
  });

  test("extra paths are seen where they are, and cannot be changed", async () => {
    const shared = await mkdtemp(join(tmpdir(), "threadfold-shared-"));
    onTestFinished(() => rm(shared, { recursive: true, force: true }));
    await writeFile(join(shared, "data.csv"), "a,b\n");
    const { sandbox } = await acquired({ readOnlyPaths: [shared] });
    expect((await sandbox.exec(`cat ${shared}/data.csv`)).stdout).toBe("a,b\n");
    expect((await sandbox.exec(`echo x > ${shared}/data.csv`)).exitCode).not.toBe(0);
  });

  test("it is chosen when it works, and not when local is asked for", async () => {
    expect(await chooseSandboxProvider()).toMatchObject({ isolated: true, provider: { name: "bubblewrap" } });
    expect(await chooseSandboxProvider({ prefer: "local" })).toMatchObject({ provider: { name: "local" } });
  });
});

describe("without bubblewrap", () => {
  const program = "/no/such/bwrap";

  test("the local provider is chosen, and the reason says so", async () => {
    const { provider, isolated, reason } = await chooseSandboxProvider({ program });
    expect({ name: provider.name, isolated }).toEqual({ name: "local", isolated: false });
    expect(reason).toContain("/no/such/bwrap is not installed");
  });

  test("a program that may not make namespaces counts as not working, with its own words", async () => {
    expect(await probeBubblewrap({ program: "false" })).toMatchObject({ works: false, missing: false });
    expect((await chooseSandboxProvider({ program: "false" })).provider.name).toBe("local");
  });

  test("asking for it is an error that says what to do, never a silent fallback", async () => {
    await expect(chooseSandboxProvider({ program, prefer: "bubblewrap" })).rejects.toThrow(
      "apt-get install bubblewrap",
    );
    const provider = bubblewrapSandboxProvider({ program });
    const folders = await madeThreadFolders();
    await expect(provider.acquire({ threadId: "t", folders })).rejects.toBeInstanceOf(
      BubblewrapUnavailableError,
    );
  });
});
