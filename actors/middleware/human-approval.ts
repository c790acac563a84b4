import type { Json } from "../../events/json.ts";
import { interrupt } from "../interrupt.ts";
import { coerceArguments } from "../tools/coerce-arguments.ts";
import { argumentsSchema } from "../tools/json-schema.ts";
import { type Decision, type DecisionType, decisionTypes, readDecision } from "./approval-decision.ts";
import { createMiddleware, type ToolCallRequest } from "./define-middleware.ts";
import { callsOf, lastAnswer } from "./last-answer.ts";
import { errorResult } from "./refused-call.ts";

export interface ApprovalRule {
  /** Default: approve, edit and reject. */
  readonly allowedDecisions?: readonly DecisionType[];
  /** What the human reads; default: name and arguments. */
  readonly description?: string | ((call: ToolCallRequest["toolCall"]) => string);
}

export interface HumanApprovalOptions {
  /** Tools whose calls wait for a human; false: never asks. */
  readonly interruptOn: Readonly<Record<string, boolean | ApprovalRule>>;
}

function describe(rule: ApprovalRule, call: ToolCallRequest["toolCall"]): string {
  if (typeof rule.description === "function") return rule.description(call);
  return rule.description ?? `The model wants to run ${call.name} with ${JSON.stringify(call.args)}`;
}

/** The question in both spellings, LangChain JS's and that of its Python and UI. */
function question(request: ToolCallRequest, rule: ApprovalRule, problem?: string): Json {
  const { name, args } = request.toolCall;
  const allowed = rule.allowedDecisions ?? decisionTypes;
  const actions = [
    { name, args: args as { [key: string]: Json }, description: describe(rule, request.toolCall) },
  ];
  const configs = [
    { action_name: name, actionName: name, allowed_decisions: allowed, allowedDecisions: allowed },
  ];
  return {
    action_requests: actions,
    actionRequests: actions,
    review_configs: configs,
    reviewConfigs: configs,
    tool_call_id: request.toolCall.id,
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Why a decision that can be read is refused all the same; undefined: it is fine. */
function refusal(decision: Decision, rule: ApprovalRule, name: string): string | undefined {
  const allowed = rule.allowedDecisions ?? decisionTypes;
  if (!allowed.includes(decision.type)) {
    return `The decision "${decision.type}" is not allowed for ${name}. Allowed: ${allowed.join(", ")}.`;
  }
  if (decision.type !== "edit") return undefined;
  const edited = decision.editedAction.name;
  if (edited === undefined || edited === name) return undefined;
  return `An edit may change the arguments of ${name}, not turn it into ${edited}. Reject the call instead.`;
}

function edit(request: ToolCallRequest, args: Record<string, unknown>): ToolCallRequest {
  const typed = request.tool ? coerceArguments(argumentsSchema(request.tool), args) : args;
  return { ...request, toolCall: { ...request.toolCall, args: typed } };
}

/**
 * Asks a human before named tools run. Each call is asked for and decided by itself: rejecting one runs the others.
 * An answer that cannot be read, or a decision that is not allowed, is asked for again; nothing runs without a decision.
 *
 * @example
 * createAgent({ model, tools, middleware: [humanApprovalMiddleware({ interruptOn: { bash: true } })] })
 */
export function humanApprovalMiddleware(options: HumanApprovalOptions) {
  const ruleFor = (name: string): ApprovalRule | undefined => {
    const rule = Object.hasOwn(options.interruptOn, name) ? options.interruptOn[name] : undefined;
    return rule === true ? {} : rule || undefined;
  };
  /** Place of the call among those of its answer that need a decision. */
  const placeOf = (request: ToolCallRequest) => {
    const answer = lastAnswer(request.state.messages);
    const asked = (answer ? callsOf(answer) : []).filter((call) => ruleFor(call.name));
    return { index: asked.findIndex((call) => call.id === request.toolCall.id), count: asked.length };
  };
  return createMiddleware({
    name: "human-approval",
    wrapToolCall(request, handler) {
      const { name } = request.toolCall;
      const rule = ruleFor(name);
      if (!rule) return handler(request);
      if (request.decision === undefined) return interrupt("approval", question(request, rule));
      const decision = readDecision(request.decision, placeOf(request));
      const problem = "problem" in decision ? decision.problem : refusal(decision, rule, name);
      if ("problem" in decision || problem !== undefined) {
        return interrupt("approval", question(request, rule, problem));
      }
      switch (decision.type) {
        case "approve":
          return handler(request);
        case "edit":
          return handler(edit(request, decision.editedAction.args));
        case "reject":
          return errorResult(
            request.toolCall,
            decision.message ??
              `The user rejected the call of ${name}. It did not run; do not make it again unless asked.`,
          );
        default:
          return decision satisfies never;
      }
    },
  });
}
