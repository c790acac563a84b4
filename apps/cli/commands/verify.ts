import type { Command } from "@commander-js/extra-typings";
import type { EventLog } from "../../../events/log/event-log.ts";
import type { VerifiedThread, VerifyCheck, VerifySource } from "../../../projections/verify.ts";
import { exitCodes } from "../exit-codes.ts";
import { withThreadsOf } from "../exported-threads.ts";
import { isFile } from "../is-file.ts";
import type { Reading, Session } from "../session.ts";
import { uncheckedText } from "../unchecked-text.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold verify` */
export function define(command: Command, session: Session): void {
  command
    .argument("[thread|file]", "a thread, or an exported file")
    .option("--all", "every thread of the store")
    .option("--chain", "only the chain of hashes")
    .option("--fold", "only the fold and the state at the end of each run")
    .option("--blobs", "only the blobs that events name")
    .option("--snapshots", "only snapshots against the fold")
    .action(async (source, { all, ...only }) => {
      const { terminal, options } = session;
      if (source !== undefined && all) {
        throw new UsageError(
          "A thread or file, and --all. Give one of the two. Like: threadfold verify --all",
        );
      }
      if (source === undefined && !all) {
        throw new UsageError(
          "Nothing to verify. Name a thread or a file, or give --all. Like: threadfold verify --all",
        );
      }
      const verify = await import("../../../projections/verify.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const chosen = verify.verifyChecks.filter((check) => only[check]);
      const checks = chosen.length > 0 ? withChain(chosen) : verify.verifyChecks;
      const results: VerifiedThread[] = [];
      const damage: string[] = [];
      const verifyOne = async (from: VerifySource, threadId: string, withoutBlobs = false) => {
        const reading = await readingForVerify(session, from.log, threadId);
        const result = await verify.verifyThread({ ...from, ...reading }, threadId, { checks, withoutBlobs });
        results.push(result);
        if (options.ndjson) await terminal.record(result);
        else if (!options.json) await terminal.line(lineOf(result, session));
      };
      if (source !== undefined && isFile(source)) {
        await withThreadsOf(source, async (store, threadIds, { withoutBlobs }) => {
          for (const threadId of threadIds) await verifyOne(store, threadId, withoutBlobs);
        });
      } else {
        const store = await session.store();
        if (source !== undefined) await verifyOne(store, await resolveThread(store.log, source));
        else {
          damage.push(...((await store.log.check?.()) ?? []));
          for (const finding of damage) terminal.say(`The file of the store is damaged: ${finding}`);
          for await (const threadId of verify.allThreads(store.log)) {
            await verifyOne(store, threadId);
            session.signal.throwIfAborted();
          }
        }
      }
      const broken = results.filter(({ problems }) => problems.length > 0);
      const ok = broken.length === 0 && damage.length === 0;
      if (!ok) session.exitWith(exitCodes.checkFailed);
      if (options.json) return terminal.json({ ok, damage, threads: results });
      if (all) terminal.say(`${results.length} threads verified, ${broken.length} with problems.`);
    });
}

/**
 * The fields that the thread's runs say they had, so that the states at their ends can be compared. A log that cannot
 * be read for them is told by the verification itself.
 */
async function readingForVerify(session: Session, log: EventLog, threadId: string): Promise<Reading> {
  return session.readingOf(log, threadId).catch(() => session.reading());
}

/** A broken chain is always told: nothing else can be trusted then. */
function withChain(checks: readonly VerifyCheck[]): readonly VerifyCheck[] {
  return checks.includes("chain") ? checks : ["chain", ...checks];
}

function lineOf(result: VerifiedThread, session: Session): string {
  const { green, red } = session.terminal.colors;
  const { threadId, version, events, stateHashes, blobs, absentBlobs, erasedBlobs, problems } = result;
  if (problems.length === 0) {
    const unchecked = uncheckedText({
      unchecked: result.uncheckedStates,
      unknownFields: result.unknownFields,
      erased: result.erasedStates,
    });
    const absent = absentBlobs > 0 ? `, ${absentBlobs} not in the file (export --blobs)` : "";
    const erased = erasedBlobs > 0 ? `, ${erasedBlobs} erased` : "";
    return `${threadId}@${version}: ${green("ok")} (${events} events, ${stateHashes} state hashes${unchecked}, ${blobs} blobs${absent}${erased})`;
  }
  const lines = problems.map(
    ({ check, stream, version: at, message }) => `  ${check} at ${stream}@${at}: ${message}`,
  );
  return [`${threadId}@${version}: ${red("broken")}`, ...lines].join("\n");
}
