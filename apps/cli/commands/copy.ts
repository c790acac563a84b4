import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "@commander-js/extra-typings";
import type { SubscriptionItem } from "../../../events/log/event-log.ts";
import type { Store } from "../../../events/store.ts";
import type { CopyOptions, CopyProgress, CopyResult } from "../../../projections/copy-log.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold copy` */
export function define(command: Command, session: Session): void {
  command
    .requiredOption("--from <url>", "the store to copy from; it is only read")
    .requiredOption("--to <url>", "the store to copy to; it gets what it lacks")
    .option("-f, --follow", "go on copying what is added, until Ctrl-C")
    .action(async ({ from, to, follow }) => {
      if (from === to) throw new UsageError("Both stores are the same. Name another one with --to.");
      const { terminal, options, signal } = session;
      const source = await openStored(session, from, { readOnly: true });
      const target = await openStored(session, to, {});
      const { copyLog } = await import("../../../projections/copy-log.ts");
      const bar = terminal.interactive ? showBar(terminal) : undefined;
      const copy: CopyOptions = { from: source, to: target, signal, ...(bar && { onProgress: bar }) };
      /** Between attempts while a store is away: it was there once. */
      const sayAway = async (error: unknown) => {
        const { isStoreAway } = await import("../../../actors/store-away.ts");
        if (!isStoreAway(error)) throw error;
        terminal.say(`${error instanceof Error ? error.message : error} Trying again.`);
        await pause(awayMs, undefined, { signal }).catch(() => undefined);
      };
      for (let isFirst = true; ; isFirst = false) {
        // From before the copy on: what is added while it runs is not waited for.
        const news = follow ? source.log.subscribe({ after: "end", signal }) : undefined;
        const result = await copyLog(copy).catch(isFirst ? undefined : sayAway);
        if (!result) {
          if (signal.aborted) return session.exitWith(exitCodes.interrupted);
          continue;
        }
        if (bar) terminal.talk("\r\u001b[K");
        if (isFirst || result.copied > 0 || result.erased.length > 0) {
          if (options.json && !follow) await terminal.json(result);
          else if (options.json || options.ndjson) await terminal.record(result);
          else describeResult(terminal, result);
        }
        if (signal.aborted) return session.exitWith(exitCodes.interrupted);
        if (!news) return;
        await firstEvent(news).catch(sayAway);
        if (signal.aborted) return;
      }
    });
}

/** Opened without keys: encrypted content is copied as it is. */
async function openStored(session: Session, url: string, how: { readOnly?: boolean }): Promise<Store> {
  const { openStore } = await import("../../../events/open-store.ts");
  const store = await openStore(url, { ...how, encrypt: false });
  session.onEnd(() => store.close());
  return store;
}

async function firstEvent(items: AsyncIterable<SubscriptionItem>): Promise<void> {
  for await (const item of items) {
    if (item.kind === "event") return;
  }
}

/** Milliseconds. */
const awayMs = 1_000;
const barWidth = 24;

function showBar(terminal: Terminal): (progress: CopyProgress) => void {
  return ({ events, total, blobs }) => {
    const part = total === 0 ? 1 : Math.min(1, events / total);
    const filled = Math.round(part * barWidth);
    const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
    terminal.talk(`\r${bar} ${Math.floor(part * 100)} % ${events}/${total} events, ${blobs} blobs\u001b[K`);
  };
}

function describeResult(terminal: Terminal, result: CopyResult): void {
  const { copied, events, before, blobs, missingBlobs, erased, refused } = result;
  const had = copied === 0 ? "nothing was missing" : `${copied} events copied`;
  terminal.say(`${events - before} events verified, ${had}, ${blobs} blobs copied.`);
  if (before > 0)
    terminal.say(
      `Copied before and not looked at again: ${before} events. To check a store: threadfold verify --all`,
    );
  if (erased.length > 0) terminal.say(`Erased as in the source: ${erased.join(", ")}`);
  if (refused.length > 0) terminal.say(`Erased in the target, not copied: ${refused.join(", ")}`);
  if (missingBlobs.length > 0)
    terminal.say(`Not in the source: ${missingBlobs.length} blobs that events name.`);
}
