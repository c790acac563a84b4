import type { Command } from "@commander-js/extra-typings";
import type { BranchTree } from "../../../projections/branches.ts";
import type { BranchComparison } from "../../../projections/compare-branches.ts";
import type { Session } from "../session.ts";

/** `threadfold branches` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .option("--ancestor <position>", "the last position that the thread has in common with this one")
    .option("--compare <position>", "what the two did since their last common position, and how they differ")
    .action(async (thread, { ancestor, compare }) => {
      const { terminal, options } = session;
      const { commonAncestor, readBranches } = await import("../../../projections/branches.ts");
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const { log } = await session.store();
      const position = await resolvePosition(log, thread);
      if (ancestor !== undefined) {
        const common = await commonAncestor(log, position, await resolvePosition(log, ancestor));
        if (options.json) return terminal.json({ ancestor: common ?? null });
        if (options.ndjson) return terminal.record({ ancestor: common ?? null });
        if (common) await terminal.line(`${common.threadId}@${common.version}`);
        else terminal.say("The two have nothing in common.");
        return;
      }
      if (compare !== undefined) {
        const { compareBranches } = await import("../../../projections/compare-branches.ts");
        const other = await resolvePosition(log, compare);
        const compared = await compareBranches(
          log,
          await session.readerOf(position.threadId),
          position,
          other,
        );
        if (options.json) return terminal.json(compared);
        if (options.ndjson) return terminal.record(compared);
        return printComparison(compared, session);
      }
      const tree = await readBranches(log, position.threadId);
      if (options.json) return terminal.json({ tree });
      if (options.ndjson) return terminal.record({ tree });
      await printTree(tree, 0, session);
    });
}

async function printComparison(compared: BranchComparison, { terminal }: Session): Promise<void> {
  const { ancestor, left, right, fields } = compared;
  const { bold } = terminal.colors;
  await terminal.line(
    ancestor ? `in common up to ${ancestor.threadId}@${ancestor.version}` : "nothing in common",
  );
  for (const { at, events, types, fields: changed } of [left, right]) {
    const counts = Object.entries(types).map(([type, count]) => (count === 1 ? type : `${type} ×${count}`));
    await terminal.line(`${bold(`${at.threadId}@${at.version}`)}  ${events} events: ${counts.join(", ")}`);
    await terminal.line(`  changed ${changed.length === 0 ? "nothing" : changed.join(", ")}`);
  }
  await terminal.line(`fields that differ: ${fields.length === 0 ? "none" : fields.join(", ")}`);
}

async function printTree(tree: BranchTree, depth: number, session: Session): Promise<void> {
  const { terminal } = session;
  const { bold, dim, green } = terminal.colors;
  const indent = "  ".repeat(depth);
  const parent = tree.parent ? dim(` forked from ${tree.parent.threadId}@${tree.parent.version}`) : "";
  await terminal.line(`${indent}${bold(tree.threadId)}${parent}`);
  for (const { from, to, leaves, reason, current, heads, forks } of tree.branches) {
    const back = leaves?.threadId === tree.threadId ? ` from @${leaves.version}` : "";
    const parts = [
      `@${from}-${to}${back}`,
      ...(current ? [green("current")] : [dim("abandoned")]),
      ...(reason === undefined ? [] : [reason]),
      ...heads.map(({ name, version }) => `${name}=@${version}`),
    ];
    await terminal.line(`${indent}  ${parts.join("  ")}`);
    for (const fork of forks) await printTree(fork, depth + 2, session);
  }
}
