import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { toErrorData } from "../../actors/error-data.ts";
import { withoutHostPaths } from "../../actors/host-paths.ts";
import { ScriptedModel } from "./scripted-model.ts";

describe("an error tells nothing of where this process works", () => {
  test.each([
    ["the folder it works in", `no such file: ${process.cwd()}/src/a.ts`, "no such file: …/src/a.ts"],
    ["home folders on Linux", "open '/home/ada/keys/id': denied", "open '…/keys/id': denied"],
    ["home folders on macOS", "at /Users/ada/work", "at …/work"],
    ["home folders on Windows", "at C:\\Users\\ada\\work", "at …\\work"],
    ["virtual paths stay", "no /mnt/user-data/workspace/a.txt", "no /mnt/user-data/workspace/a.txt"],
  ])("%s", (_what, text, expected) => {
    expect(withoutHostPaths(text)).toBe(expected);
    expect(toErrorData(new Error(text)).message).toBe(expected);
  });

  test("a failed model call does not bring them into the log or to its caller", async () => {
    const model = new ScriptedModel({
      answers: () => {
        throw new Error(`cannot read ${homedir()}/.config/key and /home/ada/key`);
      },
    });
    const agent = createAgent({ model, store: "memory:" });
    const thread = agent.thread("t");
    const { error } = await thread.run("go").result;
    expect(error?.message).toContain("cannot read …");
    let recorded = "";
    for await (const event of thread.events()) recorded += JSON.stringify(event.data);
    expect(recorded).toContain("cannot read …");
    expect(recorded).not.toMatch(/home\/ada/);
    if (homedir() !== "/") expect(recorded).not.toContain(`${homedir()}/.config`);
  });
});
