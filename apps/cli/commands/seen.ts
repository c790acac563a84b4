import type { Command } from "@commander-js/extra-typings";
import type { Message } from "../../../events/message.ts";
import type { SeenBlock, SeenRequest } from "../../../projections/seen.ts";
import { exitCodes } from "../exit-codes.ts";
import type { Session } from "../session.ts";

/** `threadfold seen` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .option("--call <id>", "the model call (default: the last one)")
    .option("--all", "every model call of the thread: check that each request can be rebuilt")
    .action(async (thread, { call, all }) => {
      const { terminal, options } = session;
      const { rebuildRequest } = await import("../../../projections/seen.ts");
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const store = await session.store();
      const { createStateReader } = await import("../../../projections/state-at.ts");
      const { blobsOfThread } = await import("../../../events/keys/with-encryption.ts");
      const threadId = await resolveThread(store.log, thread);
      const sources = {
        log: store.log,
        blobs: blobsOfThread(store, threadId),
        // What the model saw is checked by its hash: nothing may be left out.
        reader: createStateReader({ ...store, ...(await session.readingOf(store.log, threadId)) }),
      };
      if (all) {
        for (const callId of await callsOf(session, threadId)) {
          const { version, model, messages, tools, hashMatches } = await rebuildRequest(
            sources,
            threadId,
            callId,
          );
          if (!hashMatches) session.exitWith(exitCodes.checkFailed);
          const row = {
            threadId,
            version,
            callId,
            model,
            messages: messages.length,
            tools: tools.length,
            hashMatches,
          };
          if (options.json || options.ndjson) await terminal.record(row);
          else await terminal.line(`${callLine(row)}\t${hashText(hashMatches, session)}`);
        }
        return;
      }
      const seen = await rebuildRequest(sources, threadId, call);
      if (!seen.hashMatches) session.exitWith(exitCodes.checkFailed);
      if (options.json) return terminal.json({ request: seen });
      if (options.ndjson) return terminal.record({ request: seen });
      await print(seen, session);
    });
}

async function callsOf(session: Session, threadId: string): Promise<readonly string[]> {
  const { log } = await session.store();
  const calls = new Set<string>();
  for await (const page of log.read(`thread-${threadId}`, { types: ["ModelCallStarted"] })) {
    for (const { data } of page) calls.add((data as { callId: string }).callId);
  }
  return [...calls];
}

function callLine(row: {
  readonly threadId: string;
  readonly version: number;
  readonly callId: string;
  readonly model: string;
  readonly messages: number;
  readonly tools: number;
}): string {
  const { threadId, version, callId, model, messages, tools } = row;
  return `${threadId}@${version}\t${callId}\t${model}\t${messages} messages\t${tools} tools`;
}

function hashText(matches: boolean, { terminal }: Session): string {
  const { green, red } = terminal.colors;
  return matches ? green("hash ok") : red("hash differs");
}

async function print(seen: SeenRequest, session: Session): Promise<void> {
  const { terminal } = session;
  const { bold, dim } = terminal.colors;
  const { threadId, version, callId, model, system, tools, messages, hidden, hashMatches } = seen;
  await terminal.line(`${bold(`${threadId}@${version}`)}  call ${callId}  ${model}`);
  await terminal.line(
    `${messages.length} messages, ${tools.length} tools, ${hashText(hashMatches, session)}${hashMatches ? ": to the byte what the model was given" : ""}`,
  );
  if (system) {
    await terminal.line(dim(`-- system, by ${system.by.join(", ")}`));
    await terminal.line(textOf(system.message.content as Message["content"]));
  }
  for (const block of messages) {
    await terminal.line(dim(`-- ${originOf(block)}`));
    await terminal.line(
      `${block.message.type}: ${textOf(block.message.content)}${callsOfMessage(block.message)}`,
    );
  }
  for (const { id, by } of hidden) await terminal.line(dim(`-- hidden: ${id}, by ${by}`));
  if (tools.length > 0) await terminal.line(dim(`-- tools: ${tools.map(nameOfTool).join(", ")}`));
}

function originOf({ by, edit, origin }: SeenBlock): string {
  const place = origin ? `${origin.threadId}@${origin.version} ${origin.type}` : "in this request only";
  return [place, `by ${by}`, ...(edit === undefined ? [] : [edit])].join(", ");
}

function textOf(content: Message["content"]): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

function callsOfMessage({ tool_calls: calls = [] }: Message): string {
  return (calls ?? []).map(({ name, args }) => `\n  ${name}(${JSON.stringify(args)})`).join("");
}

function nameOfTool(tool: unknown): string {
  const { name, function: inner } = tool as { name?: string; function?: { name?: string } };
  return inner?.name ?? name ?? "?";
}
