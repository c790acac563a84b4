export type {
  Agent,
  AgentOptions,
  Run,
  RunConfig,
  RunInput,
  RunItem,
  RunOptions,
  RunResult,
  RunStatus,
  Thread,
  ThreadInfo,
  ThreadStatus,
} from "./actors/agent-contract.ts";
export { InterruptAnsweredError, UnknownInterruptError } from "./actors/answers.ts";
export { AssemblyError } from "./actors/assembly.ts";
export { createAgent } from "./actors/create-agent.ts";
export { type InterruptRequest, interrupt } from "./actors/interrupt.ts";
export { UnsupportedCommandError } from "./actors/langchain-input.ts";
export { RunCancelledError, RunFailedError } from "./actors/langchain-output.ts";
export { UnsupportedStreamModeError } from "./actors/langgraph-stream.ts";
export {
  createMiddleware,
  type HookResult,
  type HookRuntime,
  type HookState,
  type JumpTarget,
  type Middleware,
  type ModelRequest,
  type ToolCallRequest,
} from "./actors/middleware/define-middleware.ts";
export { ReservedEventError } from "./actors/record-outside.ts";
export { RunAbandonedError } from "./actors/recovery.ts";
export { AgentClosedError } from "./actors/registry.ts";
export { RunLostError } from "./actors/run-scope.ts";
export { ThreadBusyError } from "./actors/thread-busy.ts";
export { type LifecycleTransition, threadMachineDefinition } from "./actors/thread-machine.ts";
export {
  defineTool,
  type ToolDefinition,
  type ToolResult,
  type ToolRuntime,
} from "./actors/tools/define-tool.ts";
export { catalogue, type EventName } from "./events/catalogue.ts";
export { defineEvent, type EventDefinition, type EventDraft } from "./events/define-event.ts";
export type { Emitter, EventMetadata, RecordedEvent } from "./events/envelope.ts";
export {
  createEventRegistry,
  type EventRegistry,
  InvalidEventError,
  NewerSchemaError,
} from "./events/event-registry.ts";
export type { Json, JsonObject } from "./events/json.ts";
export { type EventLog, VersionConflict } from "./events/log/event-log.ts";
export type { Message } from "./events/message.ts";
export { openStore } from "./events/open-store.ts";
export type { Store } from "./events/store.ts";
export { UnknownThreadError, VersionOutOfRangeError } from "./projections/lineage.ts";
export { createStateReader, type StateReader } from "./projections/state-at.ts";
export { stateHash } from "./projections/state-hash.ts";
export { createThreadReducer } from "./reducers/built-in.ts";
export { defineReducer, type ReducerDefinition } from "./reducers/define-reducer.ts";
export { FieldConflictError, FoldError, type State, type StateReducer } from "./reducers/thread-state.ts";
