import type { Command } from "@commander-js/extra-typings";
import type { PriceTable } from "../../../projections/prices.ts";
import type { TraceNode } from "../../../projections/trace.ts";
import { readInput } from "../read-input.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** `threadfold trace` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .option("--run <id>", "only this run")
    .option("--prices <file>", 'price table as JSON: { "currency", "models": { "<model>": { … } } }')
    .option("--delegated", "with the runs of sub-agents")
    .action(async (thread, { run, prices: priceFile, delegated }) => {
      const { terminal, options } = session;
      const { resolveThread } = await import("../../../projections/thread-position.ts");
      const { readTrace } = await import("../../../projections/trace.ts");
      const prices = priceFile === undefined ? undefined : await readPrices(priceFile);
      const log = await session.shownLog();
      const threadId = await resolveThread(log, thread);
      const trace = await readTrace(log, threadId, {
        ...(run !== undefined && { runId: run }),
        ...(prices && { prices }),
        ...(delegated && { delegated }),
      });
      if (options.json) return terminal.json({ threadId, trace });
      if (options.ndjson) {
        for (const node of trace) await terminal.record(node);
        return;
      }
      if (trace.length === 0)
        terminal.say(run === undefined ? "Nothing happened yet." : `No run ${run} in ${threadId}.`);
      for (const node of trace) await printNode(node, 0, session, prices);
    });
}

/** @throws {UsageError} */
async function readPrices(file: string): Promise<PriceTable> {
  const { priceTableSchema } = await import("../../../projections/price-table.ts");
  const text = await readInput(file);
  try {
    return priceTableSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(
      `${file} is no price table. Write { "currency": "EUR", "models": { "<model>": { "inputPerMillion": 1, "outputPerMillion": 2 } } }.`,
    );
  }
}

async function printNode(
  node: TraceNode,
  depth: number,
  session: Session,
  prices: PriceTable | undefined,
): Promise<void> {
  const { terminal } = session;
  const { bold, dim, red, yellow } = terminal.colors;
  const { inputTokens, outputTokens } = node.tokens;
  const bad = node.status === "failed" || node.status === "abandoned";
  const parts = [
    node.kind === "event"
      ? dim(node.name)
      : bold(node.kind === "run" ? node.name : `${node.kind} ${node.name}`),
    `@${node.version}`,
    ...(node.kind === "event"
      ? []
      : [bad ? red(node.status) : node.status === "ok" ? "ok" : yellow(node.status)]),
    ...(node.kind !== "event" && node.durationMs !== undefined ? [`${Math.round(node.durationMs)} ms`] : []),
    ...(inputTokens + outputTokens > 0 ? [`${inputTokens}+${outputTokens} tokens`] : []),
    ...(node.cost !== undefined && prices ? [`${node.cost.toFixed(6)} ${prices.currency}`] : []),
  ];
  await terminal.line(`${"  ".repeat(depth)}${parts.join("  ")}`);
  for (const child of node.children) await printNode(child, depth + 1, session, prices);
}
