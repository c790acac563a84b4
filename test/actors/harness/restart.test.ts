import { beforeAll, describe, expect, it } from "vitest";
import type { RunResult } from "../../../actors/agent-contract.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Message } from "../../../events/message.ts";
import { openStore } from "../../../events/open-store.ts";
import { png } from "../../cases/images.ts";
import { crashingStore } from "../crashing-store.ts";
import { eventsOf } from "../recorded-events.ts";
import { recordingStore } from "../recording-store.ts";
import { type PlanBench, planAgent, putPictures, type SeenRequest } from "./plan-with-images.ts";

interface Finished {
  readonly result: RunResult;
  readonly events: readonly RecordedEvent[];
  readonly requests: ReadonlyMap<number, readonly SeenRequest[]>;
  readonly batches: number;
  readonly folder: string;
}

async function uninterrupted(): Promise<Finished> {
  const store = await recordingStore();
  await putPictures(store, "t");
  const { agent, requests } = planAgent(store);
  const thread = agent.thread("t");
  const result = await thread.run("Look at the pictures and tell me the weather.").result;
  return {
    result,
    events: await eventsOf(thread),
    requests,
    batches: store.batches.length,
    folder: store.folder,
  };
}

/** The same run in a process that dies after so many appends, finished by another one. */
async function interruptedAfter(appends: number): Promise<Finished & { readonly ran: readonly string[] }> {
  const store = await openStore("memory:");
  await putPictures(store, "t");
  const dying = crashingStore(store, appends);
  const first = planAgent(dying);
  first.agent.thread("t").run("Look at the pictures and tell me the weather.");
  await dying.crashed;
  const second = planAgent(store);
  const thread = second.agent.thread("t");
  const run = await thread.openRun();
  if (!run) throw new Error("There is no open run.");
  const result = await run.result;
  const events = await eventsOf(thread);
  return {
    result,
    events,
    requests: merged(first, second),
    batches: 0,
    folder: store.folder,
    ran: [...first.ran, ...second.ran],
  };
}

function merged(first: PlanBench, second: PlanBench): ReadonlyMap<number, readonly SeenRequest[]> {
  const turns = new Set([...first.requests.keys(), ...second.requests.keys()]);
  return new Map(
    [...turns].map((turn) => [turn, [first, second].flatMap(({ requests }) => requests.get(turn) ?? [])]),
  );
}

/** What a user or a client can tell of the end. */
function outcome({ result }: Finished) {
  const { messages, title, todos, viewed_images, promoted, token_usage, artifacts } = result.state;
  const texts = (messages as Message[]).map(({ type, content, status }) => ({ type, content, status }));
  return { status: result.status, texts, title, todos, viewed_images, promoted, token_usage, artifacts };
}

/** Batches of the run; the last one is its end. A test of its own holds the number. */
const batches = 24;

let calm: Finished;
beforeAll(async () => {
  calm = await uninterrupted();
});

const imagesIn = (request: SeenRequest | undefined): number =>
  JSON.stringify(request?.messages ?? []).split("data:image/png;base64").length - 1;

describe("a plan-mode run with images and promoted tools", () => {
  it("does what it should: each image is shown once, the tool is found, the reminder comes once", () => {
    const requests = [0, 1, 2, 3, 4, 5].map((turn) => calm.requests.get(turn)?.[0]);
    expect(calm.result.status).toBe("completed");
    expect(requests.map(imagesIn)).toEqual([0, 1, 0, 1, 0, 0]);
    expect(requests.map((request) => request?.tools.includes("weather_now"))).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ]);
    const reminded = requests.map((request) => JSON.stringify(request).includes("todo_completion_reminder"));
    expect(reminded).toEqual([false, false, false, false, true, false]);
    expect(calm.result.state.todos).toMatchObject([{ status: "completed" }, { status: "completed" }]);
    expect(calm.result.state.viewed_images).toEqual({});
    expect(Object.hasOwn(calm.result.state, "pending_todo_reminder")).toBe(false);
    const names = (calm.result.state.messages as Message[]).map(({ name }) => name);
    expect(names).not.toContain("todo_completion_reminder");
  });

  it("no event holds the bytes of an image, or a host path where a model or a client can see it", () => {
    for (const { type, data } of calm.events) {
      const text = JSON.stringify(data);
      for (const size of [3_000, 24]) expect(text).not.toContain(png(size).toString("base64"));
      if (type !== "ThreadDataBound") expect(text).not.toContain(calm.folder);
    }
    for (const request of [...calm.requests.values()].flat()) {
      expect(JSON.stringify(request)).not.toContain(calm.folder);
    }
  });

  it(`has ${batches} batches, each of which may be the last that a process writes`, () => {
    expect(calm.batches).toBe(batches);
  });

  it.each(Array.from({ length: batches - 1 }, (_, index) => index + 1))(
    "goes on as if nothing had happened when the process dies after batch %i",
    async (appends) => {
      const again = await interruptedAfter(appends);
      expect(outcome(again)).toEqual(outcome(calm));
      expect(again.ran.length).toBeGreaterThan(0);
      expect(new Set(again.ran)).toEqual(new Set(["f1"]));
      let asked = 0;
      for (const [turn, requests] of again.requests) {
        for (const request of requests) expect(request).toEqual(calm.requests.get(turn)?.[0]);
        asked += requests.length;
      }
      // Only the call that was in flight is asked again.
      expect(asked - calm.requests.size).toBeLessThanOrEqual(1);
      const started = again.events.filter(({ type }) => type === "RunStarted" || type === "RunCompleted");
      expect(started).toHaveLength(2);
    },
  );
});
