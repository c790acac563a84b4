import { artifactsMiddleware } from "./middleware/artifacts.ts";
import { clarificationMiddleware } from "./middleware/clarification.ts";
import { danglingToolCallsMiddleware } from "./middleware/dangling-tool-calls.ts";
import { createMiddleware, type Middleware } from "./middleware/define-middleware.ts";
import { type DynamicContextOptions, dynamicContextMiddleware } from "./middleware/dynamic-context.ts";
import { type EmptyAnswerOptions, emptyAnswerMiddleware } from "./middleware/empty-answer.ts";
import { type HumanApprovalOptions, humanApprovalMiddleware } from "./middleware/human-approval.ts";
import { inputSanitizationMiddleware } from "./middleware/input-sanitization.ts";
import { lengthStopMiddleware } from "./middleware/length-stop.ts";
import { type LoopDetectionOptions, loopDetectionMiddleware } from "./middleware/loop-detection.ts";
import { type McpRoutingOptions, mcpRoutingMiddleware } from "./middleware/mcp-routing.ts";
import { type ModelCallLimitOptions, modelCallLimitMiddleware } from "./middleware/model-call-limit.ts";
import { type FallbackModel, modelFallbackMiddleware } from "./middleware/model-fallback.ts";
import { type ModelRetryOptions, modelRetryMiddleware } from "./middleware/model-retry.ts";
import { type DeferredTools, promotedToolsMiddleware } from "./middleware/promoted-tools.ts";
import { safetyStopMiddleware } from "./middleware/safety-stop.ts";
import { type SandboxMiddlewareOptions, sandboxMiddleware } from "./middleware/sandbox.ts";
import { subAgentsMiddleware } from "./middleware/sub-agents.ts";
import { type SubagentLimitOptions, subagentLimitMiddleware } from "./middleware/subagent-limit.ts";
import { type SummarizationOptions, summarizationMiddleware } from "./middleware/summarization.ts";
import { type ThreadDataOptions, threadDataMiddleware } from "./middleware/thread-data.ts";
import { type TitleMiddlewareOptions, titleMiddleware } from "./middleware/title.ts";
import { type TodosOptions, todosMiddleware } from "./middleware/todos.ts";
import { tokenUsageMiddleware } from "./middleware/token-usage.ts";
import { type ToolErrorsOptions, toolErrorsMiddleware } from "./middleware/tool-errors.ts";
import { type ToolOutputBudgetOptions, toolOutputBudgetMiddleware } from "./middleware/tool-output-budget.ts";
import { type UploadsOptions, uploadsMiddleware } from "./middleware/uploads.ts";
import { type ViewImagesOptions, viewImagesMiddleware } from "./middleware/view-images.ts";
import { fileTools } from "./tools/file-tools.ts";
import type { TaskToolOptions } from "./tools/task.ts";

/** A part that is on: its options, or false to leave it out. */
type On<Options> = Options | false;

/** The parts of the harness. Those above the line are on by default, those below are off until they get options. */
export interface HarnessOptions {
  readonly inputSanitization?: boolean;
  readonly toolOutputBudget?: On<ToolOutputBudgetOptions>;
  readonly threadData?: On<ThreadDataOptions>;
  readonly uploads?: On<UploadsOptions>;
  readonly sandbox?: On<SandboxMiddlewareOptions>;
  /** `ls`, `read_file`, `write_file`, `str_replace`, `bash`. */
  readonly files?: boolean;
  /** `present_files`. */
  readonly artifacts?: boolean;
  readonly danglingToolCalls?: boolean;
  readonly modelRetry?: On<ModelRetryOptions>;
  readonly toolErrors?: On<ToolErrorsOptions>;
  /** Plan mode: `write_todos`. */
  readonly todos?: On<TodosOptions>;
  readonly tokenUsage?: boolean;
  readonly title?: On<TitleMiddlewareOptions>;
  /** `view_image`: by default for models whose profile says that they see. */
  readonly viewImages?: On<ViewImagesOptions>;
  readonly loopDetection?: On<LoopDetectionOptions>;
  readonly emptyAnswer?: On<EmptyAnswerOptions>;
  readonly lengthStop?: boolean;
  readonly safetyStop?: boolean;
  /** `ask_clarification`. */
  readonly clarification?: boolean;

  readonly fallbackModels?: readonly FallbackModel[];
  readonly humanApproval?: HumanApprovalOptions;
  readonly dynamicContext?: DynamicContextOptions;
  readonly summarization?: SummarizationOptions;
  readonly modelCallLimit?: ModelCallLimitOptions;
  /** `tool_search` over these tools, and the keywords that load some of them by themselves. */
  readonly deferredTools?: {
    readonly tools: DeferredTools;
    readonly routing?: McpRoutingOptions["routing"];
    readonly topK?: number;
  };
  /** `task`: hands work to sub-agents. */
  readonly subAgents?: TaskToolOptions & SubagentLimitOptions;
  /** Your own middlewares, in the place where they see all of the above and before the run's end is judged. */
  readonly custom?: readonly Middleware[];
}

function on<Options>(
  options: Options | false | undefined,
  make: (options?: Options) => Middleware,
): Middleware[] {
  return options === false ? [] : [make(options)];
}

function flag(option: boolean | undefined, make: () => Middleware): Middleware[] {
  return option === false ? [] : [make()];
}

function off<Options>(options: Options | undefined, make: (options: Options) => Middleware): Middleware[] {
  return options === undefined ? [] : [make(options)];
}

/**
 * The default chain, in order. Hooks before run from top to bottom, hooks after from bottom to top, and the first wraps
 * all others. Any part can be left out.
 *
 * @example
 * createAgent({ model, middleware: harnessMiddleware({ todos: false, humanApproval: { interruptOn: { bash: true } } }) })
 */
export function harnessMiddleware(options: HarnessOptions = {}): readonly Middleware[] {
  const { deferredTools: deferred, subAgents } = options;
  const vision = options.viewImages === false ? undefined : (options.viewImages?.vision ?? "auto");
  return [
    ...flag(options.inputSanitization, inputSanitizationMiddleware),
    ...on(options.toolOutputBudget, toolOutputBudgetMiddleware),
    ...on(options.threadData, threadDataMiddleware),
    ...on(options.uploads, uploadsMiddleware),
    ...on(options.sandbox, sandboxMiddleware),
    ...flag(options.files, () => createMiddleware({ name: "files", tools: fileTools() })),
    ...flag(options.artifacts, artifactsMiddleware),
    ...flag(options.danglingToolCalls, danglingToolCallsMiddleware),
    ...off(options.fallbackModels, modelFallbackMiddleware),
    ...on(options.modelRetry, modelRetryMiddleware),
    ...on(options.toolErrors, toolErrorsMiddleware),
    ...off(options.dynamicContext, dynamicContextMiddleware),
    ...off(options.summarization, summarizationMiddleware),
    ...off(options.modelCallLimit, modelCallLimitMiddleware),
    ...on(options.todos, todosMiddleware),
    ...flag(options.tokenUsage, tokenUsageMiddleware),
    ...on(options.title, titleMiddleware),
    ...(vision === undefined || vision === false ? [] : on(options.viewImages, viewImagesMiddleware)),
    ...off(deferred?.routing, (routing) =>
      mcpRoutingMiddleware({
        tools: deferred?.tools ?? [],
        routing,
        ...(deferred?.topK === undefined ? {} : { topK: deferred.topK }),
      }),
    ),
    ...off(deferred, ({ tools }) => promotedToolsMiddleware({ tools })),
    // After the deferred tools: nobody is asked about a call that is refused because its tool is not loaded.
    ...off(options.humanApproval, humanApprovalMiddleware),
    ...off(subAgents, subAgentsMiddleware),
    ...off(subAgents, subagentLimitMiddleware),
    ...on(options.loopDetection, loopDetectionMiddleware),
    ...(options.custom ?? []),
    ...on(options.emptyAnswer, emptyAnswerMiddleware),
    ...flag(options.lengthStop, lengthStopMiddleware),
    ...flag(options.safetyStop, safetyStopMiddleware),
    ...flag(options.clarification, clarificationMiddleware),
  ];
}
