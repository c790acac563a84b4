/* Errors that have no place beside a function of the package: callers tell them apart with `instanceof`. */
export { RunWithdrawnError } from "./actors/admit-run.ts";
export { UnknownMessageTypeError } from "./actors/messages/to-langchain.ts";
export { InvalidMessageError } from "./actors/messages/to-stored.ts";
export { TitleConfigError } from "./actors/middleware/title-config.ts";
export { TitlePromptError } from "./actors/middleware/title-text.ts";
export { ToolOutputConfigError } from "./actors/middleware/tool-output-config.ts";
export { ToolOutputNotStoredError } from "./actors/middleware/tool-output-file.ts";
export { RunClosedError } from "./actors/run-scope.ts";
export { BubblewrapUnavailableError } from "./actors/sandboxes/bubblewrap.ts";
export { FileAccessError } from "./actors/sandboxes/file-access-error.ts";
export { PathNotAllowedError } from "./actors/sandboxes/sandbox.ts";
export { ModelAnswerError, ToolsNotSupportedError } from "./actors/steps/call-model.ts";
export { HookError } from "./actors/steps/hook-error.ts";
export { ToolArgumentsError } from "./actors/steps/invoke-tool.ts";
export { InvalidJumpError } from "./actors/steps/jumps.ts";
export { ModelCallError } from "./actors/steps/model-call.ts";
export { ModelRequestError } from "./actors/steps/model-request.ts";
export { ContextError } from "./actors/steps/run-context.ts";
export { ReleaseError } from "./actors/steps/run-hooks.ts";
export { InvalidUpdateError, UnknownFieldError } from "./actors/steps/updates.ts";
export { ResponseFormatError } from "./actors/structured-response.ts";
export { NoSandboxError } from "./actors/tools/tool-sandbox.ts";
export { BlobDamagedError, BlobMissingError } from "./events/blobs/blob-store.ts";
export { NotJsonError } from "./events/canonical-json.ts";
export { EventConflictError } from "./events/event-registry.ts";
export { KeyConflictError } from "./events/keys/key-store.ts";
export {
  DamagedEventError,
  EventTooLargeError,
  InvalidNameError,
  StreamDeletedError,
} from "./events/log/event-log.ts";
export { MissingEventStoreClientError } from "./events/log/kurrentdb-client.ts";
export { InvalidPositionError } from "./events/log/position.ts";
export { MissingDriverError } from "./events/log/postgres-driver.ts";
export { SideConflict } from "./events/log/side-store.ts";
export { ContentErasedError } from "./projections/content-erased.ts";
export { InvalidPathError } from "./projections/invalid-path.ts";
export { NotAThreadError } from "./projections/langgraph-import/source-thread.ts";
export { DamagedArchiveError } from "./projections/line-files.ts";
export { BrokenLineageError } from "./projections/lineage.ts";
export { UnknownCallError } from "./projections/seen.ts";
export { NotAMessageError } from "./reducers/message-like.ts";
export { MessageWithoutIdError } from "./reducers/messages.ts";
export { SandboxConflictError } from "./reducers/sandbox.ts";
