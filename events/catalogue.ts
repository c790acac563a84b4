import { ArtifactsPresented } from "./artifacts.ts";
import type { AnyEventDefinition, DataOf } from "./define-event.ts";
import { DelegationsRecorded } from "./delegations.ts";
import { GoalSet } from "./goal.ts";
import { ImagesCleared, ImagesViewed } from "./images.ts";
import { HistoryCompacted, MessagesAdded, MessagesRemoved, MessagesReplaced } from "./messages.ts";
import { ModelCallFailed, ModelCallStarted, ModelResponded } from "./model.ts";
import { ToolsPromoted } from "./promoted-tools.ts";
import {
  InterruptResolved,
  JumpRequested,
  RunCancelled,
  RunCancelRequested,
  RunCapped,
  RunCompleted,
  RunFailed,
  RunInterrupted,
  RunStarted,
  RunTakenOver,
} from "./run.ts";
import { SandboxBound, SandboxRebound, SandboxReleased } from "./sandbox.ts";
import { SkillsLoaded } from "./skills.ts";
import { StateUpdated } from "./state-update.ts";
import { StructuredResponseProduced } from "./structured-response.ts";
import {
  ContentRedacted,
  HeadNamed,
  ThreadArchived,
  ThreadCreated,
  ThreadErased,
  ThreadForked,
  ThreadMetadataChanged,
  ThreadRestored,
  ThreadRewound,
} from "./thread.ts";
import { ThreadDataBound } from "./thread-data.ts";
import { TitleSet } from "./title.ts";
import { TodosReminded, TodosWritten } from "./todos.ts";
import {
  ToolCallAbandoned,
  ToolCallCompleted,
  ToolCallFailed,
  ToolCallStarted,
  ToolOutputExternalized,
} from "./tool.ts";
import { FilesUploaded } from "./uploads.ts";

/** Every event that Threadfold itself records, by name. */
export const catalogue = {
  ThreadCreated,
  ThreadForked,
  ThreadRewound,
  ThreadMetadataChanged,
  ThreadArchived,
  ThreadRestored,
  ThreadErased,
  ContentRedacted,
  HeadNamed,
  RunStarted,
  RunTakenOver,
  RunCancelRequested,
  RunCapped,
  RunCompleted,
  RunFailed,
  RunCancelled,
  RunInterrupted,
  InterruptResolved,
  JumpRequested,
  ModelCallStarted,
  ModelResponded,
  ModelCallFailed,
  ToolCallStarted,
  ToolCallCompleted,
  ToolCallFailed,
  ToolCallAbandoned,
  ToolOutputExternalized,
  MessagesAdded,
  MessagesReplaced,
  MessagesRemoved,
  HistoryCompacted,
  ThreadDataBound,
  FilesUploaded,
  SandboxBound,
  SandboxReleased,
  SandboxRebound,
  ArtifactsPresented,
  TodosWritten,
  TodosReminded,
  ImagesViewed,
  ImagesCleared,
  ToolsPromoted,
  TitleSet,
  StructuredResponseProduced,
  StateUpdated,
  GoalSet,
  DelegationsRecorded,
  SkillsLoaded,
} as const satisfies Record<string, AnyEventDefinition>;

export type EventName = keyof typeof catalogue;

/** Event name to the type of its data. */
export type EventDataByName = { [Name in EventName]: DataOf<(typeof catalogue)[Name]> };
