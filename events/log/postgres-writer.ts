import { setImmediate as nextTurn } from "node:timers/promises";
import { chainStart, type SealedEvent, sealEvents } from "../hash-chain.ts";
import type { Json } from "../json.ts";
import {
  type AppendResult,
  type ExpectedVersion,
  LogUnavailableError,
  StreamDeletedError,
  type StreamHead,
  VersionConflict,
} from "./event-log.ts";
import { toPosition } from "./position.ts";
import { findEarlier } from "./postgres-earlier.ts";
import type { PostgresReader } from "./postgres-reader.ts";
import { bytesOf, hexOf, metadataText } from "./postgres-rows.ts";
import type { PostgresSession } from "./postgres-session.ts";
import type { PreparedEvent } from "./prepare-append.ts";
import { createRecentlyUsed } from "./recently-used.ts";

interface AppendTask {
  readonly stream: string;
  readonly prepared: readonly PreparedEvent[];
  readonly expected: ExpectedVersion;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
  /** A transaction with others was refused: this time it gets one of its own. */
  alone: boolean;
}

interface PlannedAppend {
  readonly task: AppendTask;
  readonly sealed: readonly SealedEvent[];
  /** The data as it will be read: what the caller holds of its own event may change. */
  datas: readonly Json[];
}

/** What one transaction writes, and where it believes the streams to be. */
interface Plan {
  readonly appends: PlannedAppend[];
  readonly bases: Map<string, StreamHead>;
  readonly heads: Map<string, StreamHead>;
  /** Appends that must see this transaction first. */
  readonly later: AppendTask[];
}

/** The only way into the events: what is asked for while a transaction is under way shares the next one. */
export interface PostgresWriter {
  append(
    stream: string,
    prepared: readonly PreparedEvent[],
    expected: ExpectedVersion,
  ): Promise<AppendResult>;
  erase(stream: string, expected: number | undefined): Promise<void>;
  /** Lets a read be answered before anything that is appended from now on. */
  before<Result>(read: Promise<Result>): Promise<Result>;
  /** Refuses new appends and resolves when those asked for have their answers. */
  close(): Promise<void>;
}

const maxStreams = 2000;
const maxAppendsPerTransaction = 256;
const maxTextPerTransaction = 4_000_000;

/** @param schema a name that needs no quotes */
export function createPostgresWriter(
  session: PostgresSession,
  reader: PostgresReader,
  schema: string,
  announce: () => void,
): PostgresWriter {
  const known = createRecentlyUsed<string, StreamHead>(maxStreams);
  const queue: (AppendTask | (() => Promise<void>))[] = [];
  const reads = new Set<Promise<unknown>>();
  let work: Promise<void> | undefined;
  let isClosed = false;
  let isShared = false;
  const appendText = `
    SELECT * FROM ${schema}.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`;
  const appendOneText = `SELECT ${schema}.append_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

  const eraseStream = async (stream: string, expected: number | undefined): Promise<void> => {
    const text = `SELECT ${schema}.erase($1, $2)`;
    const values = [stream, bytesOf(chainStart)];
    if (expected === undefined) {
      await session.query("repeatable", text, values);
      return;
    }
    await session.transaction("BEGIN", async (query) => {
      // The lock of those who append.
      await query(`SELECT pg_advisory_xact_lock('${schema}.events'::regclass::oid::bigint)`);
      const [row] = await query(`SELECT version, deleted FROM ${schema}.streams WHERE name = $1`, [stream]);
      const [version = "0", deleted] = row ?? [];
      if (deleted !== "t" && Number(version) !== expected) {
        throw new VersionConflict(stream, expected, Number(version));
      }
      await query(text, values);
    });
  };

  /** Whoever appends alone waits for nobody; where several do, those just answered may share the next transaction. */
  const gathered = () => (isShared ? nextTurn() : Promise.resolve());

  const start = () => {
    work ??= gathered()
      .then(workOff)
      .finally(() => {
        work = undefined;
        if (queue.length > 0) start();
      });
  };

  const workOff = async () => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      if (reads.size > 0) await Promise.allSettled(reads);
      if (typeof next === "function") {
        queue.shift();
        await next();
      } else {
        const batch = takeBatch();
        isShared = batch.length > 1;
        await transact(batch);
        if (isShared) await nextTurn();
      }
    }
  };

  const takeBatch = (): AppendTask[] => {
    const batch: AppendTask[] = [];
    let text = 0;
    for (let next = queue[0]; next !== undefined && typeof next !== "function"; next = queue[0]) {
      if (batch.length > 0 && (next.alone || text > maxTextPerTransaction)) break;
      queue.shift();
      batch.push(next);
      text += next.prepared.reduce((sum, { dataText }) => sum + dataText.length, 0);
      if (next.alone || batch.length >= maxAppendsPerTransaction) break;
    }
    return batch;
  };

  const refresh = async (streams: readonly string[]) => {
    const heads = await reader.heads(streams);
    for (const stream of streams)
      known.set(stream, heads.get(stream) ?? { version: 0, hash: chainStart, deleted: false });
  };

  const transact = async (batch: readonly AppendTask[]) => {
    try {
      for (;;) {
        const plan = await planOf(batch);
        const base = plan.appends.length > 0 ? await commit(plan) : 0;
        if (base === undefined) continue;
        settle(plan, base);
        queue.unshift(...plan.later);
        return;
      }
    } catch (error) {
      known.clear();
      // One append that the server refuses must not take the others with it.
      const isShared = batch.length > 1 && error instanceof LogUnavailableError;
      for (const task of batch) {
        if (isShared) task.alone = true;
        else task.reject(error);
      }
      if (isShared) queue.unshift(...batch);
    }
  };

  const planOf = async (batch: readonly AppendTask[]): Promise<Plan> => {
    const plan: Plan = { appends: [], bases: new Map(), heads: new Map(), later: [] };
    const blocked = new Set<string>();
    // A stream that somebody begins is believed not to be there: the transaction checks it.
    const unknown = batch.filter(
      ({ stream, expected }) => !known.get(stream) && expected !== 0 && expected !== "no-stream",
    );
    if (unknown.length > 0) await refresh([...new Set(unknown.map(({ stream }) => stream))]);
    for (const task of batch) {
      if (!blocked.has(task.stream) && (await add(task, plan))) continue;
      blocked.add(task.stream);
      plan.later.push(task);
    }
    return plan;
  };

  /** Plans or answers an append; false: it depends on what this transaction writes before it. */
  const add = async (task: AppendTask, plan: Plan): Promise<boolean> => {
    const { stream, prepared, expected } = task;
    const planned = plan.heads.get(stream);
    const head = planned ?? known.get(stream) ?? { version: 0, hash: chainStart, deleted: false };
    const wanted = expected === "no-stream" ? 0 : expected;
    if (!head.deleted && wanted === head.version && prepared.length > 0) {
      plan.bases.set(stream, plan.bases.get(stream) ?? head);
      seal(task, head, plan);
      return true;
    }
    if (planned) return false;
    return answer(task, plan);
  };

  const seal = (task: AppendTask, head: StreamHead, plan: Plan) => {
    const newEvents = task.prepared.map(({ event }) => event);
    let sealed: SealedEvent[];
    try {
      sealed = sealEvents(task.stream, head, newEvents);
    } catch (error) {
      task.reject(error);
      return;
    }
    const last = sealed.at(-1);
    if (last) {
      const { version, metadata } = last;
      plan.heads.set(task.stream, { version, hash: metadata.hash, deleted: false });
    }
    plan.appends.push({ task, sealed, datas: [] });
  };

  /** What an append gets that is not simply the next one of its stream, by what is committed now. */
  const answer = async (task: AppendTask, plan: Plan): Promise<boolean> => {
    const { stream, prepared, expected } = task;
    await refresh([stream]);
    const head = known.get(stream);
    if (!head || head.deleted) {
      task.reject(new StreamDeletedError(stream));
      return true;
    }
    const wanted = expected === "no-stream" ? 0 : expected;
    const ids = prepared.map(({ event }) => event.id);
    const earlier =
      wanted === head.version ? undefined : await findEarlier(reader, stream, ids, expected, head);
    const last = earlier?.at(-1);
    if (earlier && last) {
      task.resolve({ version: last.version, position: last.position, events: earlier });
    } else if (wanted !== "any" && wanted !== head.version) {
      task.reject(new VersionConflict(stream, expected, head.version));
    } else if (prepared.length === 0) {
      task.resolve({ version: head.version, position: await reader.lastPositionOf(stream), events: [] });
    } else {
      plan.bases.set(stream, head);
      seal(task, head, plan);
    }
    return true;
  };

  /** What can be done of the answers while the server still works. */
  const prepareAnswers = (appends: readonly PlannedAppend[]) => {
    for (const append of appends) {
      append.datas = append.task.prepared.map(({ dataText }) => JSON.parse(dataText));
    }
  };

  /** Position before the event; undefined: the stream is elsewhere, and nothing was written. */
  const commitOne = async (
    event: SealedEvent,
    dataText: string,
    meanwhile: () => void,
  ): Promise<number | undefined> => {
    const { id, type, stream, version, recordedAt, metadata } = event;
    const values = [
      stream,
      version - 1,
      id,
      type,
      metadata.schema,
      dataText,
      recordedAt,
      metadataText(event),
      bytesOf(metadata.hash),
      bytesOf(metadata.previousHash),
    ];
    const [row] = await session.query("repeatable", appendOneText, values, meanwhile);
    const position = row?.[0];
    return position === null || position === undefined ? undefined : Number(position) - 1;
  };

  /** Position before the first event of the plan; undefined: a stream is elsewhere, and nothing was written. */
  const commit = async ({ appends, bases, heads }: Plan): Promise<number | undefined> => {
    const meanwhile = () => prepareAnswers(appends);
    const [only] = appends;
    const event = only?.sealed[0];
    const dataText = only?.task.prepared[0]?.dataText;
    const isOne = appends.length === 1 && only?.sealed.length === 1;
    if (isOne && event && event.version > 1 && dataText !== undefined) {
      const base = await commitOne(event, dataText, meanwhile);
      if (base !== undefined) return base;
      // The statement for many tells where the stream is.
    }
    const names = [...heads.keys()];
    const events = appends.flatMap(({ sealed }) => sealed);
    const dataTexts = appends.flatMap(({ task }) => task.prepared.map(({ dataText }) => dataText));
    const values = [
      names,
      names.map((name) => bases.get(name)?.version),
      names.map((name) => heads.get(name)?.version),
      names.map((name) => bytesOf(heads.get(name)?.hash ?? "")),
      events.map(({ stream }) => stream),
      events.map(({ version }) => version),
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ metadata }) => metadata.schema),
      dataTexts,
      events.map(({ recordedAt }) => recordedAt),
      events.map(metadataText),
      events.map(({ metadata }) => bytesOf(metadata.hash)),
      events.map(({ metadata }) => bytesOf(metadata.previousHash)),
    ];
    const rows = await session.query("repeatable", appendText, values, meanwhile);
    const base = rows.at(-1)?.[4];
    if (base !== null && base !== undefined) return Number(base);
    for (const [stream, version, hash, deleted] of rows) {
      const head = { version: Number(version), hash: hexOf(hash) || chainStart, deleted: deleted === "t" };
      known.set(String(stream), head);
    }
    return undefined;
  };

  const settle = ({ appends, heads }: Plan, base: number) => {
    for (const [stream, head] of heads) known.set(stream, head);
    let position = base;
    for (const { task, sealed, datas } of appends) {
      const events = sealed.map((event, index) => ({
        ...event,
        data: datas[index] ?? null,
        position: toPosition(position + index + 1),
      }));
      position += events.length;
      const version = events.at(-1)?.version ?? 0;
      task.resolve({ version, position: toPosition(position), events });
    }
    if (appends.length > 0) announce();
  };

  const checkOpen = () => {
    if (isClosed) throw new LogUnavailableError(`${session.where} is closed. Open the store again.`);
  };

  return {
    async append(stream, prepared, expected) {
      checkOpen();
      return new Promise((resolve, reject) => {
        queue.push({ stream, prepared, expected, resolve, reject, alone: false });
        start();
      });
    },
    async erase(stream, expected) {
      checkOpen();
      return new Promise((resolve, reject) => {
        queue.push(async () => {
          known.clear();
          await eraseStream(stream, expected).then(resolve, reject);
        });
        start();
      });
    },
    before(read) {
      const tracked = read.finally(() => reads.delete(tracked));
      reads.add(tracked);
      return tracked;
    },
    async close() {
      isClosed = true;
      // A queue that got longer meanwhile is worked off by another promise.
      while (work !== undefined) await work;
    },
  };
}
