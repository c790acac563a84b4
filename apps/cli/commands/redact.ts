import { type Command, InvalidArgumentError } from "@commander-js/extra-typings";
import { confirmed } from "../confirm.ts";
import { exitCodes } from "../exit-codes.ts";
import { knownProjections, projectionRows } from "../projections-of-session.ts";
import type { Session } from "../session.ts";

/** `threadfold redact` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .requiredOption(
      "--rule <rule>",
      "a path (messages.*.content) or a pattern (/\\b\\d{16}\\b/); it is recorded",
    )
    .option("--versions <list>", "only events of these versions, like 3,5,8", versionList)
    .option("--reason <text>", "why, for the log")
    .option("--dry-run", "show what would be redacted")
    .option("--file <file>", "TypeScript or JavaScript file that exports projections of your own")
    .option("--yes", "do not ask")
    .action(async (thread, { rule, versions, reason, dryRun, file, yes }) => {
      const { terminal, options } = session;
      const { redactThread } = await import("../../../projections/redaction.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const store = await session.store();
      const threadId = await resolveThread(store.log, thread);
      const { registry } = await session.reading();
      const work = {
        rule,
        registry,
        by: "user" as const,
        ...(versions && { versions }),
        ...(reason !== undefined && { reason }),
      };
      const found = await redactThread(store, threadId, { ...work, dryRun: true });
      let done = found;
      if (!dryRun) {
        const what = `Redact ${found.matches.length} events of thread ${threadId}?`;
        if (!(await confirmed(session, what, yes))) {
          terminal.say("Nothing was redacted.");
          session.exitWith(exitCodes.failed);
          return;
        }
        const projections = {
          store: await projectionRows(session),
          projections: await knownProjections(file),
        };
        done = await redactThread(store, threadId, { ...work, projections });
      }
      const result = { ...done, version: done.version ?? null };
      if (options.json) return terminal.json(result);
      if (options.ndjson) return terminal.record(result);
      for (const { version, type, paths } of done.matches) {
        await terminal.line(`${threadId}@${version}\t${type}\t${paths.join(", ")}`);
      }
      if (done.blobs.length > 0) {
        await terminal.line(
          `${done.blobs.length} stored ${done.blobs.length === 1 ? "text" : "texts"}, whole`,
        );
      }
      terminal.say("Files in the thread's folder are not searched: outputs of tools may be there, too.");
      if (dryRun) return;
      terminal.say(
        done.effect === "destroyed"
          ? `Recorded as version ${done.version}. The keys of this content are destroyed.`
          : `Recorded as version ${done.version}. The thread is in plain text: readers do not see it any more, but the stored bytes and exports with hashes still hold it. To take it away for good: threadfold erase ${threadId} --delete`,
      );
    });
}

function versionList(text: string): readonly number[] {
  const versions = text.split(",").map(Number);
  if (versions.some((version) => !Number.isInteger(version) || version < 1)) {
    throw new InvalidArgumentError("It is no list of versions.");
  }
  return versions;
}
