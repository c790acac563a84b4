import { z } from "zod";
import type { EventDraft } from "../../events/define-event.ts";
import { SandboxBound, SandboxRebound, SandboxReleased } from "../../events/sandbox.ts";
import { type SandboxState, sandbox as sandboxReducer } from "../../reducers/sandbox.ts";
import { chooseSandboxProvider } from "../sandboxes/choose-provider.ts";
import type { Sandbox, SandboxProvider } from "../sandboxes/sandbox.ts";
import { type FoldersFor, foldersOf } from "../sandboxes/thread-folders.ts";
import { createMiddleware, type HookRuntime, type Middleware } from "./define-middleware.ts";
import { withEvents } from "./tool-call-result.ts";

export interface SandboxMiddlewareOptions {
  /** Who gives out sandboxes. Default: bubblewrap where it works, else a local folder. */
  readonly provider?: SandboxProvider | (() => SandboxProvider | Promise<SandboxProvider>);
  /** True (default): the sandbox is made when the first tool needs it; false: when a run begins. */
  readonly lazy?: boolean;
  /** The thread's host folders. Default: below the store's folder. */
  readonly folders?: FoldersFor;
  /** Another thread's sandbox to work in (a sub-agent in its parent's): used and recorded, never released. */
  readonly borrow?: (runtime: HookRuntime) => Sandbox | Promise<Sandbox> | undefined;
}

type Fields = { readonly sandbox?: SandboxState | null };

/**
 * Gives tools the thread's sandbox (`runtime.sandbox()`), one per thread however many ask at once. The first result
 * that needed it records `SandboxBound`; a lost box is replaced and recorded as `SandboxRebound`; after every run,
 * however it ended, the box goes back to its provider (`SandboxReleased`) and its id stays in the state.
 *
 * @example
 * createAgent({ model, tools: fileTools(), middleware: [threadDataMiddleware(), sandboxMiddleware()] });
 */
export function sandboxMiddleware(options: SandboxMiddlewareOptions = {}): Middleware {
  const { lazy = true, folders = foldersOf, borrow } = options;
  const provider = providerOnce(options.provider);
  // Boxes in use, by thread: one flight for parallel tools, given back when the run ends.
  const held = new Map<string, Promise<Sandbox>>();

  const open = async (runtime: HookRuntime, state: Fields): Promise<Sandbox> => {
    const borrowed = await borrow?.(runtime);
    if (borrowed) return borrowed;
    const boxes = await provider();
    const bound = await boundBox(boxes, state, runtime.threadId);
    if (bound) return bound;
    const { threadId, signal } = runtime;
    return boxes.acquire({ threadId, folders: folders(runtime, state), signal });
  };

  const obtain = async (runtime: HookRuntime, state: Fields): Promise<Sandbox> => {
    const { threadId } = runtime;
    const before = held.get(threadId);
    if (before !== undefined) {
      const box = await before;
      const isBorrowed = box.threadId !== threadId;
      if (isBorrowed || (await (await provider()).get(box.id)) !== undefined) return box;
      if (held.get(threadId) === before) held.delete(threadId);
    }
    const opening = held.get(threadId) ?? open(runtime, state);
    held.set(threadId, opening);
    try {
      return await opening;
    } catch (error) {
      // The next call tries again.
      if (held.get(threadId) === opening) held.delete(threadId);
      throw error;
    }
  };

  return createMiddleware<Fields>({
    name: "sandbox",
    external: true,
    contextSchema: z.object({ user_id: z.string().optional() }),
    events: [SandboxBound, SandboxRebound, SandboxReleased],
    reducers: [sandboxReducer],

    async beforeAgent(state, runtime) {
      if (lazy || state.sandbox != null || runtime.threadId === "") return;
      return bindingEvents(state, await obtain(runtime, state));
    },

    async wrapToolCall(request, handler) {
      let used: Sandbox | undefined;
      const sandbox = async () => {
        used = await obtain(request.runtime, request.state);
        return used;
      };
      const result = await handler({ ...request, runtime: { ...request.runtime, sandbox } });
      return used ? withEvents(result, request.toolCall.id, bindingEvents(request.state, used)) : result;
    },

    async release(state, runtime) {
      const { threadId } = runtime;
      const opening = held.get(threadId);
      held.delete(threadId);
      const box =
        opening !== undefined
          ? await opening.catch(() => undefined)
          : idOf(state) !== undefined && (await boundBox(await provider(), state, threadId));
      if (!box || box.threadId !== threadId) return;
      await (await provider()).release(box.id);
      return [...bindingEvents(state, box), SandboxReleased({ sandbox_id: box.id })];
    },
  });
}

function idOf(state: Fields): string | undefined {
  return state.sandbox?.sandbox_id ?? undefined;
}

/** What the log has to learn so that the state names this box. */
function bindingEvents(state: Fields, box: Sandbox): readonly EventDraft[] {
  const bound = idOf(state);
  if (bound === box.id) return [];
  if (bound === undefined) return [SandboxBound({ sandbox_id: box.id })];
  return [SandboxRebound({ sandbox_id: box.id, previous: bound })];
}

/** The box that the state names, if the provider has it and it is this thread's: a fork inherits its parent's id. */
async function boundBox(
  provider: SandboxProvider,
  state: Fields,
  threadId: string,
): Promise<Sandbox | undefined> {
  const bound = idOf(state);
  const box = bound === undefined ? undefined : await provider.get(bound);
  return box?.threadId === threadId ? box : undefined;
}

function providerOnce(given: SandboxMiddlewareOptions["provider"]): () => Promise<SandboxProvider> {
  let chosen: Promise<SandboxProvider> | undefined;
  const choose = async () => {
    if (typeof given === "function") return given();
    return given ?? (await chooseSandboxProvider()).provider;
  };
  return () => {
    chosen ??= choose();
    return chosen;
  };
}
