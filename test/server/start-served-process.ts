import { fork } from "node:child_process";
import { Client } from "@langchain/langgraph-sdk";
import { afterTest } from "./served-agents.ts";

export interface ServedProcess {
  readonly url: string;
  readonly port: number;
  readonly client: Client;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** A server in a process of its own on the store of a file. Its agent calls a tool five times, then says so. */
export async function startServedProcess(
  file: string,
  options: {
    readonly port?: number;
    /** Milliseconds that each answer of the model takes. */
    readonly latencyMs?: number;
  } = {},
): Promise<ServedProcess> {
  const { port = 0, latencyMs = 30 } = options;
  const settings = [file, String(port), String(latencyMs)];
  const child = fork(new URL("./served-process.ts", import.meta.url), settings, {
    execArgv: ["--import", "tsx"],
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  afterTest(async () => {
    child.kill("SIGTERM");
    await gone;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (text) => resolve(String(text)));
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    client: new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } }),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
