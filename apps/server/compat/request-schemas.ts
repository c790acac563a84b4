import { z } from "zod";
import { streamModes } from "./run-frames.ts";

const record = z.record(z.string(), z.json());
const looseRecord = z.record(z.string(), z.unknown());
/** Ids go into the names of streams. */
export const threadIdSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,149}$/, "is no valid id");

const checkpoint = z.looseObject({
  checkpoint_id: z.string().nullish(),
  checkpoint_ns: z.string().nullish(),
  checkpoint_map: looseRecord.nullish(),
});

const mode = z.enum(streamModes);

const commandSchema = z.object({
  resume: z.json().optional(),
  update: z.union([looseRecord, z.array(z.tuple([z.string(), z.unknown()]))]).nullish(),
  goto: z.json().optional(),
});

export const runSchema = z.object({
  assistant_id: z.string().min(1),
  input: z.unknown().optional(),
  command: commandSchema.nullish(),
  checkpoint: checkpoint.nullish(),
  checkpoint_id: z.string().nullish(),
  metadata: record.nullish(),
  config: z
    .looseObject({
      configurable: looseRecord.nullish(),
      recursion_limit: z.number().int().positive().nullish(),
      tags: z.array(z.string()).nullish(),
      metadata: looseRecord.nullish(),
    })
    .nullish(),
  context: looseRecord.nullish(),
  stream_mode: z.union([mode, z.array(mode)]).nullish(),
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  interrupt_before: z.union([z.literal("*"), z.array(z.string())]).nullish(),
  interrupt_after: z.union([z.literal("*"), z.array(z.string())]).nullish(),
  on_disconnect: z.enum(["cancel", "continue"]).nullish(),
  on_completion: z.enum(["delete", "keep", "complete", "continue"]).nullish(),
  multitask_strategy: z.enum(["reject", "rollback", "interrupt", "enqueue"]).nullish(),
  if_not_exists: z.enum(["reject", "create"]).nullish(),
  after_seconds: z.number().nonnegative().nullish(),
  webhook: z.string().nullish(),
  feedback_keys: z.array(z.string()).nullish(),
});
export type RunBody = z.output<typeof runSchema>;

export const threadCreateSchema = z.object({
  thread_id: threadIdSchema.nullish(),
  metadata: record.nullish(),
  if_exists: z.enum(["raise", "do_nothing"]).nullish(),
  ttl: z.unknown().optional(),
  supersteps: z
    .array(
      z.object({
        updates: z.array(
          z.object({ values: z.unknown(), command: z.unknown().optional(), as_node: z.string().nullish() }),
        ),
      }),
    )
    .nullish(),
});

const threadStatus = z.enum(["idle", "busy", "interrupted", "error"]);

export const threadSearchSchema = z.object({
  metadata: record.nullish(),
  ids: z.array(z.string()).nullish(),
  status: threadStatus.nullish(),
  values: looseRecord.nullish(),
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().min(0).default(0),
  sort_by: z.enum(["thread_id", "status", "created_at", "updated_at", "state_updated_at"]).nullish(),
  sort_order: z.enum(["asc", "desc"]).nullish(),
  select: z.array(z.string()).nullish(),
  extract: z.unknown().optional(),
});

export const threadPatchSchema = z.object({ metadata: record.nullish(), ttl: z.unknown().optional() });

export const threadPruneSchema = z.object({
  thread_ids: z.array(z.string()).min(1).max(1000),
  strategy: z.enum(["delete", "keep_latest"]).default("delete"),
});

export const stateUpdateSchema = z.object({
  values: z.union([looseRecord, z.array(looseRecord)]).nullish(),
  as_node: z.string().nullish(),
  checkpoint: checkpoint.nullish(),
  checkpoint_id: z.string().nullish(),
});

export const stateAtSchema = z.object({
  checkpoint,
  subgraphs: z.boolean().nullish(),
  select: z.array(z.string()).nullish(),
});

export const historySchema = z.object({
  limit: z.number().int().min(1).max(1000).default(10),
  before: z
    .union([
      z.string(),
      z.looseObject({ configurable: checkpoint.optional(), checkpoint_id: z.string().optional() }),
    ])
    .nullish(),
  metadata: record.nullish(),
  checkpoint: checkpoint.nullish(),
  select: z.array(z.string()).nullish(),
});

export const assistantCreateSchema = z.object({
  assistant_id: z.uuid().nullish(),
  graph_id: z.string().min(1),
  config: record.nullish(),
  context: record.nullish(),
  metadata: record.nullish(),
  if_exists: z.enum(["raise", "do_nothing"]).nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
});

export const assistantPatchSchema = z.object({
  graph_id: z.string().min(1).nullish(),
  config: record.nullish(),
  context: record.nullish(),
  metadata: record.nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
});

export const assistantSearchSchema = z.object({
  graph_id: z.string().nullish(),
  name: z.string().nullish(),
  metadata: record.nullish(),
  limit: z.number().int().min(1).max(1000).default(10),
  offset: z.number().int().min(0).default(0),
  sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).nullish(),
  sort_order: z.enum(["asc", "desc"]).nullish(),
  select: z.array(z.string()).nullish(),
});
