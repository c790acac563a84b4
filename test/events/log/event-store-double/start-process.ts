import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A double in another process: its clients have the processor for themselves, and may be any. */
export async function startDoubleProcess(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const script = fileURLToPath(new URL("serve.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  if (child.exitCode !== null) throw new Error(`The double ended with ${child.exitCode}`);
  return {
    url: String(line).trim(),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
