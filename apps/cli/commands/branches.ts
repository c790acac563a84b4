import type { Command } from "@commander-js/extra-typings";
import type { BranchTree } from "../../../projections/branches.ts";
import type { Session } from "../session.ts";

/** `threadfold branches` */
export function define(command: Command, session: Session): void {
  command
    .argument("<thread>", "the thread")
    .option("--ancestor <position>", "the last position that the thread has in common with this one")
    .action(async (thread, { ancestor }) => {
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
      const tree = await readBranches(log, position.threadId);
      if (options.json) return terminal.json({ tree });
      if (options.ndjson) return terminal.record({ tree });
      await printTree(tree, 0, session);
    });
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
