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
export { ForeignAgentError } from "./actors/agent-internals.ts";
export { InterruptAnsweredError, UnknownInterruptError } from "./actors/answers.ts";
export { AssemblyError } from "./actors/assembly.ts";
export {
  type ChildAgentsOptions,
  childAgents,
  type SharedWorkplace,
  sharedWorkplace,
} from "./actors/child-agents.ts";
export { createAgent } from "./actors/create-agent.ts";
export { type HarnessOptions, harnessMiddleware } from "./actors/harness.ts";
export { type InterruptRequest, interrupt } from "./actors/interrupt.ts";
export { LangChainNotLoadedError, loadLangChain } from "./actors/langchain.ts";
export { UnsupportedCommandError } from "./actors/langchain-input.ts";
export { RunCancelledError, RunFailedError } from "./actors/langchain-output.ts";
export { UnsupportedStreamModeError } from "./actors/langgraph-stream.ts";
export { type LifecycleTransition, threadMachineDefinition } from "./actors/lifecycle.ts";
export {
  connectMcp,
  McpNameError,
  type McpOptions,
  type McpProblem,
  type McpTools,
} from "./actors/mcp/connect-mcp.ts";
export { McpConfigError, type McpServerConfig } from "./actors/mcp/mcp-config.ts";
export { McpCallError, McpConnectionError } from "./actors/mcp/mcp-connection.ts";
export { clarificationMiddleware } from "./actors/middleware/clarification.ts";
export { danglingToolCallsMiddleware } from "./actors/middleware/dangling-tool-calls.ts";
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
export { type DynamicContextOptions, dynamicContextMiddleware } from "./actors/middleware/dynamic-context.ts";
export { type EmptyAnswerOptions, emptyAnswerMiddleware } from "./actors/middleware/empty-answer.ts";
export {
  type ApprovalRule,
  type HumanApprovalOptions,
  humanApprovalMiddleware,
} from "./actors/middleware/human-approval.ts";
export { inputSanitizationMiddleware } from "./actors/middleware/input-sanitization.ts";
export { lengthStopMiddleware } from "./actors/middleware/length-stop.ts";
export { type LoopDetectionOptions, loopDetectionMiddleware } from "./actors/middleware/loop-detection.ts";
export {
  type McpRoutingOptions,
  mcpRoutingMiddleware,
  type RoutingRule,
} from "./actors/middleware/mcp-routing.ts";
export {
  ModelCallLimitError,
  type ModelCallLimitOptions,
  modelCallLimitMiddleware,
} from "./actors/middleware/model-call-limit.ts";
export { type FallbackModel, modelFallbackMiddleware } from "./actors/middleware/model-fallback.ts";
export { type ModelRetryOptions, modelRetryMiddleware } from "./actors/middleware/model-retry.ts";
export {
  type DeferredTools,
  type PromotedToolsOptions,
  promotedToolsMiddleware,
} from "./actors/middleware/promoted-tools.ts";
export { safetyStopMiddleware } from "./actors/middleware/safety-stop.ts";
export { StructuredResponseError } from "./actors/middleware/structured-response.ts";
export { subAgentsMiddleware } from "./actors/middleware/sub-agents.ts";
export { type SubagentLimitOptions, subagentLimitMiddleware } from "./actors/middleware/subagent-limit.ts";
export {
  type CompactionState,
  compactHistory,
  type SummarizationOptions,
  summarizationMiddleware,
} from "./actors/middleware/summarization.ts";
export { type TodosOptions, todosMiddleware } from "./actors/middleware/todos.ts";
export { type TokenUsage, tokenUsageMiddleware } from "./actors/middleware/token-usage.ts";
export {
  ToolCallLimitError,
  type ToolCallLimitOptions,
  toolCallLimitMiddleware,
} from "./actors/middleware/tool-call-limit.ts";
export { type ToolErrorsOptions, toolErrorsMiddleware } from "./actors/middleware/tool-errors.ts";
export { type ViewImagesOptions, viewImagesMiddleware } from "./actors/middleware/view-images.ts";
export { MissingKeyError, MissingProviderError } from "./actors/models/providers.ts";
export { ReplaySourceError } from "./actors/models/replay/load-replay-model.ts";
export { ReplayMissError } from "./actors/models/replay/replay-miss.ts";
export { resolveModel, UnknownModelError } from "./actors/models/resolve-model.ts";
export { type QueueRunOptions, queueRun, type RunToQueue } from "./actors/queued-request.ts";
export { ReservedEventError } from "./actors/record-outside.ts";
export { RunAbandonedError } from "./actors/recovery.ts";
export {
  editAndRerun,
  InheritedMessageError,
  type RegenerateOptions,
  regenerate,
  UnknownMessageError,
} from "./actors/regenerate.ts";
export { AgentClosedError } from "./actors/registry.ts";
export {
  AgentStoreError,
  type Rerun,
  type RerunDivergence,
  type RerunOptions,
  rerunThread,
} from "./actors/rerun/rerun-thread.ts";
export { UnrepeatableInputError } from "./actors/rerun/start-from-input.ts";
export { RunLostError } from "./actors/run-scope.ts";
export { ToolsNotSupportedError } from "./actors/steps/call-model.ts";
export { HookResultError } from "./actors/steps/hook-result.ts";
export { ModelCallAbandonedError } from "./actors/steps/model-call.ts";
export { ParallelWriteError } from "./actors/steps/parallel-writes.ts";
export { ToolTimeoutError } from "./actors/steps/tool-call.ts";
export { UnknownToolError } from "./actors/steps/tool-chain.ts";
export { ToolResultError } from "./actors/steps/tool-result.ts";
export { ThreadBusyError } from "./actors/thread-busy.ts";
export { askClarificationTool } from "./actors/tools/ask-clarification.ts";
export {
  defineTool,
  type ToolDefinition,
  type ToolResult,
  type ToolRuntime,
} from "./actors/tools/define-tool.ts";
export {
  type ChildOutcome,
  type ChildRequest,
  type RunChild,
  type TaskToolOptions,
  taskTool,
} from "./actors/tools/task.ts";
export { ImageNotViewableError, type ViewImageOptions, viewImageTool } from "./actors/tools/view-image.ts";
export { writeTodosTool } from "./actors/tools/write-todos.ts";
export {
  NothingToCompareError,
  type Outcome,
  type WhatIf,
  type WhatIfOptions,
  whatIf,
} from "./actors/what-if.ts";
export { createWorker, type WorkedRun, type Worker, type WorkerOptions } from "./actors/worker.ts";
export * from "./errors.ts";
export type { BlobStore } from "./events/blobs/blob-store.ts";
export { BlobsUnavailableError, MissingS3ClientError, openS3Blobs, type S3Blobs } from "./events/blobs/s3.ts";
export { catalogue, type EventName } from "./events/catalogue.ts";
export {
  defineEvent,
  type EventDefinition,
  EventDefinitionError,
  type EventDraft,
} from "./events/define-event.ts";
export type { BriefEvent, Emitter, EventMetadata, RecordedEvent } from "./events/envelope.ts";
export {
  createEventRegistry,
  type EventRegistry,
  InvalidEventError,
  NewerSchemaError,
} from "./events/event-registry.ts";
export type { Json, JsonObject } from "./events/json.ts";
export { KeysElsewhereError } from "./events/keys/encryption-mark.ts";
export { createFileKeyStore, KeyFileOpenToOthersError, KeyLockedError } from "./events/keys/files.ts";
export { KeyDestroyedError, KeyMissingError, type KeyStore } from "./events/keys/key-store.ts";
export { createMemoryKeyStore } from "./events/keys/memory.ts";
export { RedactionRuleError } from "./events/keys/redaction-rule.ts";
export { ReservedKeyError } from "./events/keys/seal-data.ts";
export { blobsOfThread, type EncryptedStore, withEncryption } from "./events/keys/with-encryption.ts";
export { storedLog } from "./events/log/encrypting-log.ts";
export {
  AppendOutcomeUnknownError,
  type EventLog,
  LogFormatError,
  LogUnavailableError,
  VersionConflict,
} from "./events/log/event-log.ts";
export { createRedactingLog, withRedaction } from "./events/log/redacting-log.ts";
export { InvalidTextError } from "./events/log/storable-text.ts";
export type { Message } from "./events/message.ts";
export { openStore, StoreUrlError, UnknownStoreUrlError } from "./events/open-store.ts";
export type { ClaimedRun, QueuedRun, QueueEntry, QueueState, RunQueue } from "./events/queue/run-queue.ts";
export type { Store } from "./events/store.ts";
export {
  ArchiveDiffersError,
  type ArchivedThread,
  type ArchiveOptions,
  archiveThread,
  restoreThread,
} from "./projections/archive.ts";
export { artifactIndex, type IndexedArtifact, readArtifacts } from "./projections/artifact-index.ts";
export {
  type AuditEntry,
  type AuditQuery,
  auditEntryOf,
  auditTrail,
  readAuditTrail,
} from "./projections/audit-trail.ts";
export {
  type Branch,
  type BranchTree,
  commonAncestor,
  readBranches,
  readHeads,
  type ThreadPlace,
} from "./projections/branches.ts";
export { builtInProjections } from "./projections/built-in.ts";
export { MissingCallError } from "./projections/call-edits.ts";
export { type CollectBlobsOptions, type CollectedBlobs, collectBlobs } from "./projections/collect-blobs.ts";
export { type BranchComparison, compareBranches } from "./projections/compare-branches.ts";
export {
  BrokenSourceError,
  CopyDiffersError,
  type CopyOptions,
  type CopyProgress,
  type CopyResult,
  copyLog,
} from "./projections/copy-log.ts";
export {
  type AnyProjection,
  defineProjection,
  type ProjectedEnvelope,
  type ProjectedEvent,
  type Projection,
  ProjectionDefinitionError,
  type ProjectionHandler,
  type Rows,
} from "./projections/define-projection.ts";
export {
  assertNoChildren,
  deleteThread,
  type ErasedThread,
  type EraseOptions,
  eraseThread,
  ThreadHasChildrenError,
  ThreadNotEncryptedError,
} from "./projections/erase-thread.ts";
export { type EventTypeUse, readEventTypes } from "./projections/event-types.ts";
export { ExportFormatError } from "./projections/export-lines.ts";
export {
  type Fork,
  type ForksOf,
  forkIndex,
  forksFromIndex,
  forksFromLog,
} from "./projections/fork-index.ts";
export { UnknownThreadError, VersionOutOfRangeError } from "./projections/lineage.ts";
export { createMemoryProjectionStore } from "./projections/memory-projection-store.ts";
export { type OpenedExport, openExport, ReadOnlyStoreError } from "./projections/open-export.ts";
export { type AskedQuestion, openInterrupts, readOpenInterrupts } from "./projections/open-interrupts.ts";
export {
  type OpenProjections,
  type OpenProjectionsOptions,
  openProjectionStore,
  openProjections,
  ProjectionNotOpenError,
} from "./projections/open-projections.ts";
export { costOf, type ModelPrice, type PriceTable, type TokenCounts } from "./projections/prices.ts";
export type { ProjectionLag } from "./projections/projection-lag.ts";
export {
  ProjectionConflict,
  type ProjectionStore,
  ProjectionTableMissingError,
  type RowQuery,
  type SkippedEvent,
} from "./projections/projection-store.ts";
export { type ProjectionView, type ViewRow, viewOf } from "./projections/projection-view.ts";
export { BrokenExportError } from "./projections/read-export.ts";
export {
  compareRebuild,
  dryRunRebuild,
  type RebuildOptions,
  type RebuildProgress,
  type RebuildResult,
  RebuildStoppedError,
  rebuildProjection,
} from "./projections/rebuild.ts";
export {
  NothingToRedactError,
  type RedactedThread,
  type RedactOptions,
  redactThread,
} from "./projections/redaction.ts";
export { type Divergence, type Refold, refold } from "./projections/refold.ts";
export {
  ProjectionHaltedError,
  type ProjectionRun,
  type ProjectionState,
  type ProjectionStatus,
  type RunProjectionOptions,
  runProjection,
} from "./projections/runner.ts";
export { type EventFilter, selectEvents } from "./projections/select-events.ts";
export {
  generateSigningKeys,
  type HeadVerdict,
  parseSignedHead,
  type SignedHead,
  SignedHeadFormatError,
  SigningKeyError,
  signHead,
  verifySignedHead,
} from "./projections/signed-head.ts";
export { openSqliteProjectionStore, PurgeIncompleteError } from "./projections/sqlite-projection-store.ts";
export { createStateReader, type StateReader } from "./projections/state-at.ts";
export { stateHash } from "./projections/state-hash.ts";
export { type ErrorPolicy, PoisonEventError } from "./projections/table-writer.ts";
export { type ExportOptions, exportThreads } from "./projections/thread-export.ts";
export {
  type ImportedThread,
  type ImportedThreadState,
  importThreadState,
  importThreads,
  MissingParentError,
  ThreadDiffersError,
} from "./projections/thread-import.ts";
export {
  type ListedThread,
  listThreads,
  type ThreadListQuery,
  threadList,
} from "./projections/thread-list.ts";
export {
  AmbiguousThreadError,
  PositionSyntaxError,
  resolvePosition,
  type ThreadPosition,
  UnknownRunError,
} from "./projections/thread-position.ts";
export { readToolStatistics, type ToolStatistics, toolStatistics } from "./projections/tool-statistics.ts";
export { readTrace, type TraceKind, type TraceNode, type TraceOptions } from "./projections/trace.ts";
export { type ModelUsage, readUsage, type UsageReport, usage } from "./projections/usage.ts";
export { type Problem, type VerifiedThread, type VerifyCheck, verifyThread } from "./projections/verify.ts";
export { createThreadReducer } from "./reducers/built-in.ts";
export { defineReducer, type ReducerDefinition } from "./reducers/define-reducer.ts";
export { EmptyMessagesUpdateError } from "./reducers/message-update.ts";
export { FieldConflictError, FoldError, type State, type StateReducer } from "./reducers/thread-state.ts";
