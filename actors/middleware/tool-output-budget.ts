import { ToolMessage } from "@langchain/core/messages";
import type { EventDraft } from "../../events/define-event.ts";
import { ToolOutputExternalized } from "../../events/tool.ts";
import { isInterruptRequest } from "../interrupt.ts";
import { createFolderFiles } from "../sandboxes/folder-files.ts";
import type { Sandbox, SandboxProvider } from "../sandboxes/sandbox.ts";
import { type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import type { ToolResult } from "../tools/define-tool.ts";
import { cutMiddle, headOf, tailOf } from "./cut-text.ts";
import {
  createMiddleware,
  type Middleware,
  type ToolCallRequest,
  type ToolCallResult,
} from "./define-middleware.ts";
import {
  hasContent,
  mapCommandMessages,
  messageWithContent,
  withContent,
  withEvents,
} from "./tool-call-result.ts";
import {
  readToolOutputConfig,
  type ToolOutputConfig,
  type ToolOutputConfigInput,
} from "./tool-output-config.ts";
import { storeToolOutput } from "./tool-output-file.ts";

export interface ToolOutputBudgetOptions extends ToolOutputConfigInput {
  /** The provider of the thread's sandbox, when it does not work on the host's folders: files are written through it. */
  readonly provider?: SandboxProvider;
  /** The thread's host folders. Default: below the store's folder. */
  readonly folders?: FoldersFor;
}

/**
 * Keeps tool results short: what is longer than its threshold goes to a file in the thread's outputs, recorded as
 * `ToolOutputExternalized`, and the message keeps a preview that names the file. Without a place for files, and in what
 * the model is shown of earlier results, a very long result is cut.
 *
 * @throws {ToolOutputConfigError} when a value is out of range
 * @example
 * createAgent({ model, middleware: [toolOutputBudgetMiddleware({ tool_overrides: { bash: 4_000 } }), …] });
 */
export function toolOutputBudgetMiddleware(options: ToolOutputBudgetOptions = {}): Middleware {
  const { provider, folders = foldersOf, ...given } = options;
  const config = readToolOutputConfig(given);
  if (!config.enabled) return createMiddleware({ name: "tool-output-budget" });

  const files = async (request: ToolCallRequest, result: ToolCallResult) => {
    const sandboxId = provider && boundSandbox(request, result);
    if (sandboxId) return provider.get(sandboxId);
    return request.state.thread_data == null
      ? undefined
      : createFolderFiles(folders(request.runtime, request.state));
  };

  return createMiddleware({
    name: "tool-output-budget",
    events: [ToolOutputExternalized],

    async wrapToolCall(request, handler) {
      const result = await handler(request);
      if (isInterruptRequest(result)) return result;
      const { name } = request.toolCall;
      const events: EventDraft[] = [];
      const shorten = async (text: string | undefined): Promise<string | undefined> => {
        const threshold = thresholdOf(config, name);
        if (text === undefined || threshold === undefined || text.length <= threshold) return undefined;
        const place = await files(request, result);
        const stored = place && (await tryToStore(config, request, text, place));
        if (!stored) return text.length > config.fallback_max ? cut(config, text) : undefined;
        events.push(stored.event);
        return preview(config, name, text, stored.path);
      };
      if (hasContent(result)) {
        const content = await shorten(plainText(result.content as ToolResult["content"]));
        return content === undefined ? result : withEvents(withContent(result, content), events);
      }
      const command = await mapCommandMessages(result, async (message) => {
        const content = await shorten(plainText(message.content as ToolResult["content"]));
        return content === undefined ? message : messageWithContent(message, content);
      });
      return withEvents(command, events);
    },

    wrapModelCall(request, handler) {
      const { messages } = request;
      if (!messages.some((message) => cutForModel(config, message) !== message)) return handler(request);
      return handler({ ...request, messages: messages.map((message) => cutForModel(config, message)) });
    },
  });
}

/** Characters above which a tool's result goes to a file; undefined: never. */
function thresholdOf(config: ToolOutputConfig, tool: string): number | undefined {
  if (config.exempt_tools.includes(tool)) return undefined;
  const own = Object.hasOwn(config.tool_overrides, tool) ? config.tool_overrides[tool] : undefined;
  return (own ?? config.externalize_above) || undefined;
}

/** The text of content that is nothing but text; undefined for content with pictures and the like. */
function plainText(content: ToolResult["content"]): string | undefined {
  if (typeof content === "string") return content;
  const texts = content.map((part) => {
    if (typeof part === "string") return part;
    return part.type === "text" && typeof part.text === "string" ? part.text : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join("\n");
}

/** The sandbox that the call used or the thread has. */
function boundSandbox(request: ToolCallRequest, result: ToolCallResult): string | undefined {
  const events = "events" in result ? (result.events ?? []) : [];
  const update = "update" in result && !Array.isArray(result.update) ? result.update : undefined;
  const found = [
    ...events
      .filter(({ type }) => type === "SandboxBound" || type === "SandboxRebound")
      .map(({ data }) => data),
    (update as Readonly<Record<string, unknown>> | undefined)?.sandbox,
    request.state.sandbox,
  ].find((value) => typeof (value as { sandbox_id?: unknown } | null | undefined)?.sandbox_id === "string");
  return (found as { sandbox_id: string } | undefined)?.sandbox_id;
}

/** A full disk or a lost sandbox must not cost the result: it is cut instead. */
async function tryToStore(
  config: ToolOutputConfig,
  request: ToolCallRequest,
  text: string,
  files: Pick<Sandbox, "writeFile" | "stat">,
) {
  const { toolCall, runtime } = request;
  try {
    const { name: tool, id: callId } = toolCall;
    return await storeToolOutput({
      tool,
      callId,
      text,
      files,
      folder: config.storage_folder,
      blobs: runtime.blobs,
    });
  } catch {
    return undefined;
  }
}

function preview(config: ToolOutputConfig, tool: string, text: string, path: string): string {
  const head = headOf(text, config.preview_head);
  const tail = tailOf(text, Math.min(config.preview_tail, text.length - head.length));
  const left = text.length - head.length - tail.length;
  return [
    `[${tool} gave ${text.length} characters. All of them are in ${path}: read that file for what is left out here.]`,
    ...(head === "" ? [] : [head]),
    `[${left} characters are left out here]`,
    ...(tail === "" ? [] : [tail]),
  ].join("\n");
}

function cut(config: ToolOutputConfig, text: string): string {
  return cutMiddle(text, { head: config.fallback_head, tail: config.fallback_tail }, config.fallback_max);
}

/** An earlier result as the model is shown it; the message itself when it is short enough. */
function cutForModel<Message>(config: ToolOutputConfig, message: Message): Message | ToolMessage {
  if (!ToolMessage.isInstance(message)) return message;
  const text = plainText(message.content as ToolResult["content"]);
  if (text === undefined || text.length <= config.fallback_max) return message;
  if (thresholdOf(config, message.name ?? "") === undefined) return message;
  return messageWithContent(message, cut(config, text));
}
