import type { z } from "zod";
import { canonicalJson } from "../events/canonical-json.ts";
import type { SealedEvent } from "../events/hash-chain.ts";
import type { Json } from "../events/json.ts";
import { lazySchema } from "../events/zod.ts";

/** A line of an export cannot be read, or says something that does not hold. */
export class ExportFormatError extends Error {
  override readonly name = "ExportFormatError";
  constructor(
    /** Counted from 1. */
    readonly line: number,
    reason: string,
  ) {
    super(`Line ${line} of the export: ${reason}. Nothing was imported; export the thread again.`);
  }
}

const exportFormat = "threadfold.events";
/** Version of the export's form. A newer form is refused. */
const exportSchemaVersion = 1;

/** First line of an export. */
export interface ExportHeader {
  readonly format: typeof exportFormat;
  readonly schemaVersion: number;
  /** The threads that were asked for; the parents of forks come along. */
  readonly threads: readonly string[];
  /** Streams of the export with their last version, so that a file that was cut short is noticed. */
  readonly streams: Readonly<Record<string, number>>;
}

/** Bytes that events of the export refer to. */
export interface ExportedBlob {
  readonly sha256: string;
  readonly mimeType: string;
  readonly data: Uint8Array;
}

/** One line of an export. */
export type ExportLine =
  | { readonly kind: "header"; readonly header: ExportHeader }
  | { readonly kind: "event"; readonly event: SealedEvent }
  | { readonly kind: "blob"; readonly blob: ExportedBlob };

const digest = lazySchema((z) => z.string().regex(/^[0-9a-f]{64}$/, "no SHA-256 in hex"));

const headerSchema = lazySchema((z) =>
  z.object({
    format: z.literal(exportFormat),
    schemaVersion: z.number(),
    threads: z.array(z.string()),
    streams: z.record(z.string(), z.number().int().positive()),
  }),
);

const blobSchema = lazySchema((z) => z.object({ blob: digest(), mimeType: z.string(), data: z.base64() }));

const emitter = lazySchema((z) =>
  z
    .string()
    .regex(/^(?:user|client|runtime|(?:model|tool|middleware):.*)$/s, "no emitter such as user or tool:bash"),
);

const eventSchema = lazySchema((z) =>
  z.object({
    id: z.string().min(1),
    type: z.string().min(1),
    stream: z.string().min(1),
    version: z.number().int().positive(),
    recordedAt: z.iso.datetime({ precision: 3 }),
    data: z.custom<Json>((value) => value !== undefined, "is missing"),
    metadata: z.object({
      schema: z.number().int().positive(),
      by: emitter(),
      causationId: z.string(),
      correlationId: z.string(),
      runId: z.string().optional(),
      step: z.number().int().nonnegative().optional(),
      traceparent: z.string().optional(),
      hash: digest(),
      previousHash: digest(),
    }),
  }),
);

/** First line of an export of these threads. */
export function headerLine(threads: readonly string[], streams: ReadonlyMap<string, number>): string {
  const start = { format: exportFormat, schemaVersion: exportSchemaVersion, threads } as const;
  return JSON.stringify({ ...start, streams: Object.fromEntries(streams) } satisfies ExportHeader);
}

/**
 * An event as one line: the same text whatever store it comes from, so its position, which belongs to the store, is
 * left out.
 */
export function eventLine(event: SealedEvent): string {
  const { id, type, stream, version, recordedAt, data, metadata } = event;
  const { schema, by, runId, step, causationId, correlationId, traceparent, hash, previousHash } = metadata;
  const head = JSON.stringify({ stream, version, type, id, recordedAt });
  const tail = JSON.stringify({
    schema,
    by,
    runId,
    step,
    causationId,
    correlationId,
    traceparent,
    hash,
    previousHash,
  });
  return `${head.slice(0, -1)},"data":${canonicalJson(data)},"metadata":${tail}}`;
}

/** Bytes as one line. */
export function blobLine({ sha256, mimeType, data }: ExportedBlob): string {
  return JSON.stringify({ blob: sha256, mimeType, data: Buffer.from(data).toString("base64") });
}

/** What is wrong with a value, as one text: path and reason of the first problem. */
function problem(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.join(".") || "the record"}: ${issue.message}` : "it has another form";
}

function checked<Value>(schema: z.ZodType<Value>, value: unknown, line: number): Value {
  const result = schema.safeParse(value);
  if (!result.success) throw new ExportFormatError(line, problem(result.error));
  return result.data;
}

/** True when a text begins like an export, so that other JSON can be told apart. */
export function looksLikeExport(firstLine: string): boolean {
  try {
    const value: unknown = JSON.parse(firstLine);
    return typeof value === "object" && value !== null && "format" in value && value.format === exportFormat;
  } catch {
    return false;
  }
}

/**
 * Reads one line of an export.
 *
 * @param line number of the line, from 1, for messages
 * @throws {ExportFormatError}
 */
export function parseExportLine(text: string, line: number): ExportLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ExportFormatError(line, `it is no JSON (${(cause as Error).message})`);
  }
  if (line === 1) return { kind: "header", header: parseHeader(value) };
  if (typeof value === "object" && value !== null && "blob" in value) {
    const { blob: sha256, mimeType, data } = checked(blobSchema(), value, line);
    return { kind: "blob", blob: { sha256, mimeType, data: Buffer.from(data, "base64") } };
  }
  return { kind: "event", event: checked(eventSchema(), value, line) as SealedEvent };
}

function parseHeader(value: unknown): ExportHeader {
  const result = headerSchema().safeParse(value);
  if (!result.success) {
    throw new ExportFormatError(1, `it is not the header of an export, {"format":"${exportFormat}",…}`);
  }
  if (result.data.schemaVersion > exportSchemaVersion) {
    throw new ExportFormatError(
      1,
      `a newer version of threadfold wrote form ${result.data.schemaVersion} (this one reads up to ${exportSchemaVersion}); upgrade threadfold`,
    );
  }
  return result.data;
}
