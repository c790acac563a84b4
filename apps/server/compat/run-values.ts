import { HTTPException } from "hono/http-exception";
import { type Served, shownThread, wireOptionsFor } from "../served.ts";
import { describeError } from "./errors.ts";
import { itemsOfRun } from "./run-items-source.ts";
import { findRun, recordOfStart } from "./run-records.ts";
import { wireValues } from "./wire-values.ts";

/** The values that a run ends with, or what it failed with, as LangGraph's `wait` gives them. */
export async function finalValues(
  served: Served,
  threadId: string,
  runId: string,
): Promise<Record<string, unknown>> {
  const { store, runs, closing } = served;
  const tracked = runs.get(runId);
  try {
    const begun = await tracked?.started;
    const live = begun?.run;
    const record = begun ? recordOfStart(begun.first) : await findRun(store.log, threadId, runId);
    if (!record) throw new HTTPException(404, { message: "Run not found" });
    const { startVersion, metadata } = record;
    let version = startVersion;
    let interrupts: readonly { id: string; value: unknown }[] = [];
    let error: { name: string; message: string } | undefined;
    for await (const item of itemsOfRun(store.log, {
      threadId,
      runId,
      startVersion,
      live,
      signal: closing,
    })) {
      if (item.kind !== "event") continue;
      version = item.event.version;
      const data = item.event.data as unknown as { interrupts?: typeof interrupts; error?: typeof error };
      if (item.event.type === "RunInterrupted") interrupts = data.interrupts ?? [];
      if (item.event.type === "RunFailed") error = data.error;
    }
    await tracked?.finished;
    if (error) return { __error__: { error: error.name, message: error.message } };
    const state = await shownThread(served, metadata.graph_id, threadId).stateAt(version);
    const asked = interrupts.map(({ id, value }) => ({ id, value }));
    return {
      ...(await wireValues(state, wireOptionsFor(served, threadId))),
      ...(asked.length > 0 && { __interrupt__: asked }),
    };
  } catch (error) {
    const name = error instanceof Error ? error.name : "Error";
    return { __error__: { error: name, message: describeError(error).text } };
  }
}

/** A value as the one text of a body. */
export async function* waitText(value: Promise<unknown>): AsyncGenerator<string> {
  yield JSON.stringify(await value);
}
