import type { Session } from "./session.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Asks before something that cannot be undone. True: go on.
 *
 * @throws {UsageError} nobody can be asked, and `--yes` was not given
 */
export async function confirmed(
  session: Session,
  question: string,
  yes: boolean | undefined,
): Promise<boolean> {
  if (yes) return true;
  if (!session.terminal.interactive) {
    throw new UsageError(`${question} This cannot be undone. Nobody can be asked here: add --yes to go on.`);
  }
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: question, initialValue: false, output: process.stderr });
  return !isCancel(answer) && answer;
}
