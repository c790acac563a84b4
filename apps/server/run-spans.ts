import {
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Run } from "../../actors/agent-contract.ts";
import type { RecordedEvent } from "../../events/envelope.ts";

interface EventData {
  readonly callId?: string;
  readonly model?: string;
  readonly name?: string;
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number };
  readonly finishReason?: string;
  readonly error?: { readonly name: string };
}

/**
 * Spans of a run as its events tell them: the agent, its model calls and its tool calls, with the names of
 * OpenTelemetry's conventions for generative AI. No content is in them. Without an SDK nothing is done.
 */
export async function traceRun(run: Run, agentName: string): Promise<void> {
  const tracer = trace.getTracer("threadfold");
  const span = tracer.startSpan(`invoke_agent ${agentName}`, {
    kind: SpanKind.INTERNAL,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agentName,
      "gen_ai.conversation.id": run.threadId,
      "threadfold.run.id": run.runId,
    },
  });
  if (!span.isRecording()) {
    span.end();
    return;
  }
  const parent = trace.setSpan(context.active(), span);
  const open = new Map<string, Span>();
  try {
    for await (const item of run) if (item.kind === "event") traceEvent(tracer, parent, open, item.event);
  } finally {
    for (const one of open.values()) one.end();
    const { status, error } = await run.result;
    span.setAttribute("threadfold.run.status", status);
    if (status === "failed") span.setStatus({ code: SpanStatusCode.ERROR, message: error?.name ?? "Error" });
    span.end();
  }
}

function traceEvent(tracer: Tracer, parent: Context, open: Map<string, Span>, event: RecordedEvent): void {
  const data = event.data as unknown as EventData;
  const { callId = "" } = data;
  const startTime = Date.parse(event.recordedAt);
  if (event.type === "ModelCallStarted") {
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": data.model ?? "" };
    const options = { kind: SpanKind.CLIENT, startTime, attributes };
    open.set(callId, tracer.startSpan(`chat ${data.model}`, options, parent));
  } else if (event.type === "ToolCallStarted") {
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": data.name ?? "",
      "gen_ai.tool.call.id": callId,
    };
    const options = { kind: SpanKind.INTERNAL, startTime, attributes };
    open.set(callId, tracer.startSpan(`execute_tool ${data.name}`, options, parent));
  } else if (/^(?:ModelResponded|ModelCallFailed|ToolCall(?:Completed|Failed|Abandoned))$/.test(event.type)) {
    const span = open.get(callId);
    if (data.usage) {
      span?.setAttribute("gen_ai.usage.input_tokens", data.usage.input_tokens ?? 0);
      span?.setAttribute("gen_ai.usage.output_tokens", data.usage.output_tokens ?? 0);
    }
    if (data.finishReason !== undefined)
      span?.setAttribute("gen_ai.response.finish_reasons", [data.finishReason]);
    if (data.error) {
      span?.setAttribute("error.type", data.error.name);
      span?.setStatus({ code: SpanStatusCode.ERROR });
    }
    span?.end(startTime);
    open.delete(callId);
  }
}
