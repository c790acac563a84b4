import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { ReplaySourceError } from "../../../actors/models/replay/load-replay-model.ts";
import { ReplayMissError } from "../../../actors/models/replay/replay-miss.ts";
import { resolveModel } from "../../../actors/models/resolve-model.ts";
import { canonicalJson } from "../../../events/canonical-json.ts";
import type { EventDraft } from "../../../events/define-event.ts";
import { sha256 } from "../../../events/hash-chain.ts";
import { MessagesAdded } from "../../../events/messages.ts";
import { ModelCallStarted, ModelResponded } from "../../../events/model.ts";
import { openStore } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { ThreadCreated } from "../../../events/thread.ts";
import { ToolCallCompleted } from "../../../events/tool.ts";
import { exportThreads } from "../../../projections/thread-export.ts";
import { appendDrafts } from "../../projections/append-drafts.ts";

const ls = tool(() => "", { name: "ls", description: "Lists", schema: z.object({ path: z.string() }) });
const toolsDigest = sha256(canonicalJson([convertToOpenAITool(ls)]));

const started = (callId: string, version: number, extra: object = {}) =>
  ModelCallStarted({
    callId,
    model: "m",
    view: { version, from: null, edits: [], system: null, ...extra },
    tools: toolsDigest,
    requestHash: "0",
  });
const responded = (callId: string, message: object) =>
  ModelResponded({
    callId,
    message: { id: `${callId}-answer`, type: "ai", content: "", ...message },
    latencyMs: 1,
  });

const reminder = { id: "extra", type: "human", content: "<note>be brief</note>" };
const drafts: EventDraft[] = [
  ThreadCreated({}),
  MessagesAdded({ messages: [{ id: "h1", type: "human", content: "what is here?" }] }),
  started("c1", 2, {
    edits: [{ op: "insert", key: "k", after: "h1", messages: [reminder], digest: "d", by: "middleware:x" }],
  }),
  responded("c1", { tool_calls: [{ id: "t1", name: "ls", args: { path: "/" }, type: "tool_call" }] }),
  ToolCallCompleted({
    callId: "t1",
    message: { id: "r1", type: "tool", content: "a.md", tool_call_id: "t1", status: "success" },
    durationMs: 1,
  }),
  started("c2", 5, { from: "c1" }),
  responded("c2", {
    content: "There is a.md.",
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  }),
];

/** The conversation as another run has it: other ids everywhere. */
const first: BaseMessage[] = [
  new SystemMessage("You are another prompt."),
  new HumanMessage({ id: "other", content: "what is here?" }),
  new HumanMessage("<note>be brief</note>"),
];
const second: BaseMessage[] = [
  ...first,
  new AIMessage({ content: "", tool_calls: [{ id: "zz", name: "ls", args: { path: "/" } }] }),
  new ToolMessage({ content: "a.md", tool_call_id: "zz", status: "success" }),
];

let store: Store;
beforeEach(async () => {
  store = await openStore("memory:");
  onTestFinished(() => store.close());
  await appendDrafts(store.log, "thread-one", drafts);
});

async function exported(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "replay-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  for await (const line of exportThreads(store.log, ["thread-one"])) lines.push(line);
  const path = join(folder, "thread.ndjson");
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
}

describe("a recorded thread answers again", () => {
  test("what the model was shown, edits of middlewares included, whatever the ids", async () => {
    const model = (await resolveModel("replay:thread-one", { store })).bindTools?.([ls]);
    const answer = await model?.invoke(first);
    expect(answer?.tool_calls).toMatchObject([{ id: "t1", name: "ls", args: { path: "/" } }]);
    expect((await model?.invoke(second))?.text).toBe("There is a.md.");
    expect((await model?.invoke(second))?.usage_metadata).toMatchObject({ total_tokens: 3 });
  });

  test("from an exported file, without the store", async () => {
    const model = (await resolveModel(`replay:${await exported()}`)).bindTools?.([ls]);
    expect((await model?.invoke(second))?.text).toBe("There is a.md.");
  });

  test("streams the answer", async () => {
    const model = (await resolveModel("replay:thread-one", { store })).bindTools?.([ls]);
    const pieces: string[] = [];
    for await (const chunk of (await model?.stream(second)) ?? []) if (chunk.text) pieces.push(chunk.text);
    expect(pieces).toEqual(["There", " is", " a.md."]);
  });

  test("only up to the position that is named", async () => {
    const model = (await resolveModel("replay:thread-one@5", { store })).bindTools?.([ls]);
    expect((await model?.invoke(first))?.tool_calls).toHaveLength(1);
    await expect(model?.invoke(second)).rejects.toThrow(ReplayMissError);
  });

  test("a LangGraph thread state is a recording too: its answers need no tools to match", async () => {
    const path = fileURLToPath(new URL("../../fixtures/threads/market-report.json", import.meta.url));
    const model = await resolveModel(`replay:${path}`);
    const answer = await model.invoke([
      new HumanMessage({
        content: [{ type: "text", text: "Make a short report on the tea market, with a chart." }],
      }),
    ]);
    expect(answer.tool_calls?.map(({ name }) => name)).toEqual(["read_file", "ls"]);
  });
});

describe("a request that was not recorded fails loudly", () => {
  test("it names the nearest call and the first message that differs", async () => {
    const model = (await resolveModel("replay:thread-one", { store })).bindTools?.([ls]);
    const changed = [
      ...second.slice(0, -1),
      new ToolMessage({ content: "b.md", tool_call_id: "zz", status: "success" }),
    ];
    const error = await model?.invoke(changed).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReplayMissError);
    expect(error).toMatchObject({ nearest: "thread-one@7" });
    expect((error as Error).message).toMatch(
      /message 4 differs,\n {2}recorded: tool: "a\.md"\n {2}asked: {4}tool: "b\.md"/,
    );
  });

  test("other tools are another request", async () => {
    const model = await resolveModel("replay:thread-one", { store });
    await expect(model.invoke(first)).rejects.toThrow(
      /thread-one@4: the messages are the same, the tools are others/,
    );
  });

  test("a thread without model calls says so", async () => {
    await appendDrafts(store.log, "empty", [ThreadCreated({})]);
    await expect((await resolveModel("replay:empty", { store })).invoke("x")).rejects.toThrow(
      /holds no model calls/,
    );
  });

  test.each(["nothing-here", "thread-one@no-name", "./no/such/file.ndjson"])(
    "no recording: %s",
    async (source) => {
      await expect(resolveModel(`replay:${source}`, { store })).rejects.toThrow(ReplaySourceError);
      await expect(resolveModel(`replay:${source}`)).rejects.toThrow(/no store is open/);
    },
  );
});
