import { expect, test } from "vitest";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import { describeSandboxProvider } from "./sandbox-provider.contract.ts";
import { madeThreadFolders } from "./thread-files.ts";

describeSandboxProvider("local provider", localSandboxProvider);

test("only the root of the thread's files is translated, not names that begin like it", async () => {
  const provider = localSandboxProvider();
  const sandbox = await provider.acquire({ threadId: "t", folders: await madeThreadFolders() });
  expect((await sandbox.exec("echo /mnt/user-data2 x/mnt/user-data /mnt/user-data.old")).stdout).toBe(
    "/mnt/user-data2 x/mnt/user-data /mnt/user-data.old\n",
  );
  expect(sandbox.isolated).toBe(false);
  await provider.close();
});

test("folders that lie apart from each other are found by their virtual paths", async () => {
  const [one, two] = [await madeThreadFolders(), await madeThreadFolders()];
  const provider = localSandboxProvider();
  const folders = { ...one, uploads_path: two.uploads_path };
  const sandbox = await provider.acquire({ threadId: "t", folders });
  await sandbox.writeFile("/mnt/user-data/uploads/a.txt", "apart");
  expect((await sandbox.exec("cat /mnt/user-data/uploads/a.txt")).stdout).toBe("apart");
  await provider.close();
});
