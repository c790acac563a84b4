import { expect, it, onTestFinished, vi } from "vitest";
import { createAgent } from "../../../actors/create-agent.ts";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import { openStore } from "../../../events/open-store.ts";
import { eventsOf } from "../recorded-events.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

it("no event, blob or request holds a secret of the environment or the place of the thread's folders", async () => {
  vi.stubEnv("SERVICE_API_KEY", "sk-very-secret-value");
  const store = await openStore("memory:");
  const model = new ScriptedModel({
    answers: [
      callsTools(
        ["bash", { command: "env; pwd; readlink -f ." }, "env"],
        ["read_file", { path: "/mnt/user-data/workspace/none" }, "read"],
        ["view_image", { image_path: "/mnt/user-data/uploads/none.png" }, "view"],
        ["present_files", { filepaths: ["/etc/passwd"] }, "present"],
        ["bash", { command: "cat /mnt/user-data/uploads/none; exit 3" }, "fail"],
      ),
      "done",
    ],
  });
  const agent = createAgent({
    model,
    store,
    preset: "harness",
    harness: { viewImages: { vision: true }, sandbox: { provider: localSandboxProvider() } },
  });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await agent.close();
    await store.close();
  });
  const thread = agent.thread("t");
  expect((await thread.run("look around").result).status).toBe("completed");

  const events = (await eventsOf(thread)).filter(({ type }) => type !== "ThreadDataBound");
  const requests = model.calls.map(({ messages }) => messages.map(({ content }) => content));
  const blobs: string[] = [];
  for await (const { sha256 } of store.blobs.list())
    blobs.push(Buffer.from(await store.blobs.get(sha256)).toString());
  const everything = JSON.stringify([events, requests, blobs]);
  expect(everything).toContain("/mnt/user-data/workspace");
  expect(everything).not.toContain("sk-very-secret-value");
  expect(everything).not.toContain(store.folder);
});
