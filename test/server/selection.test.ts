import { expect, test } from "vitest";
import { hashToken } from "../../apps/server/index.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { serveAgent } from "./served-agents.ts";

async function served() {
  const all = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), '=HYPERLINK("x"), "three"'],
    agent: { tools: [add], middleware: [] },
    title: false,
  });
  const { thread_id: id } = await all.client.threads.create();
  await all.client.runs.wait(id, "agent", { input: { messages: [{ type: "human", content: "1 + 2?" }] } });
  const get = async (query: string) => {
    const answer = await all.request(`/log/v1/threads/${id}/selection${query}`);
    return { headers: answer.headers, text: await answer.text() };
  };
  return { ...all, id, get };
}

const versions = (text: string) =>
  text
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { type: string }).type);

test("events are chosen by type, emitter, run and text, all of which have to fit", async () => {
  const { get } = await served();
  expect(versions((await get("?type=ModelResponded,ToolCallCompleted")).text)).toEqual([
    "ModelResponded",
    "ToolCallCompleted",
    "ModelResponded",
  ]);
  expect(versions((await get("?by=tool")).text)).toEqual(["ToolCallCompleted"]);
  expect(versions((await get("?type=ModelResponded&text=HyperLink")).text)).toEqual(["ModelResponded"]);
  expect((await get("?run=nobody")).text).toBe("");
  expect(versions((await get("")).text)[0]).toBe("ThreadCreated");
});

test("as CSV each event is a row whose cells no spreadsheet takes for more than text", async () => {
  const { get, id } = await served();
  const { headers, text } = await get("?format=csv&type=ModelResponded");
  expect(headers.get("content-type")).toContain("text/csv");
  expect(headers.get("content-disposition")).toBe(`attachment; filename="${id}-events.csv"`);
  const [head, ...rows] = text.trim().split("\r\n");
  expect(head).toContain("thread,version,recorded_at,type,by,run");
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(row.startsWith(id)).toBe(true);
});

test("a token that reads may take events along, and only from threads of its owner", async () => {
  const tokens = [
    { name: "ada", sha256: hashToken("ada"), scope: "run" as const, owner: "ada" },
    { name: "bob", sha256: hashToken("bob"), scope: "read" as const, owner: "bob" },
  ];
  const { request } = await serveAgent({ server: { tokens } });
  const asAda = { authorization: "Bearer ada" };
  const made = await request("/threads", { json: {}, headers: asAda });
  const { thread_id: id } = (await made.json()) as { thread_id: string };
  const status = async (token: string) =>
    (await request(`/log/v1/threads/${id}/selection`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  expect(await status("ada")).toBe(200);
  expect(await status("bob")).toBe(404);
});
