import { v7 as uuidv7 } from "uuid";
import type { NewEvent } from "../events/envelope.ts";

const text = "What the assistant answers is three hundred characters long in this bench. ".repeat(4);

/** Answers of a model, as a run records them. */
export function makeEvents(count: number): NewEvent[] {
  const runId = uuidv7();
  return Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    const message = { id: `message-${index}`, type: "ai", content: text, tool_calls: [] };
    return {
      id,
      type: "ModelResponded",
      data: { callId: `call-${index}`, message, latencyMs: 12, finishReason: "stop" },
      recordedAt: new Date().toISOString(),
      metadata: { schema: 1, by: "model:bench", causationId: id, correlationId: runId, runId, step: index },
    };
  });
}
