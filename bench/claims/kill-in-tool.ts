import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Claim } from "./claim.ts";

const program = fileURLToPath(new URL("kill-child.ts", import.meta.url));

async function killAndResume(product: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-kill-"));
  const args = (phase: string) => ["--import", "tsx", program, product, phase, folder];
  const child = spawn(process.execPath, args("run"), { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  const { stdout } = await promisify(execFile)(process.execPath, args("resume"));
  await rm(folder, { recursive: true });
  const { charges, questions, results } = JSON.parse(stdout) as {
    charges: number;
    questions: number;
    results: readonly string[];
  };
  const kept = questions > 0 ? "input kept" : "input lost";
  return `${kept}; the tool ran ${charges} times; its result says: ${results[0] ?? "nothing"}`;
}

export const killInTool: Claim = {
  situation: "SIGKILL inside a tool, then resume in a new process",
  ours: () => killAndResume("threadfold"),
  async theirs() {
    const byDefault = await killAndResume("langgraph");
    return `${byDefault}. Durability exit: ${await killAndResume("langgraph-exit")}`;
  },
};
