import type { Command } from "@commander-js/extra-typings";
import { exitCodes } from "../exit-codes.ts";
import { type Finding, schemaFindings } from "../schema-findings.ts";
import type { Session } from "../session.ts";

/** Ports of this machine where servers that speak OpenAI's protocol usually listen. */
const localServers: readonly (readonly [port: number, name: string])[] = [
  [11434, "Ollama"],
  [8000, "vLLM"],
  [8080, "llama.cpp"],
  [1234, "LM Studio"],
];
const probeTimeoutMs = 1500;
const providers = [
  "@langchain/openai",
  "@langchain/anthropic",
  "@langchain/ollama",
  "@langchain/google-genai",
];
const oldestNode = [20, 19] as const;

/** `threadfold doctor` */
export function define(command: Command, session: Session): void {
  command
    .option("--probe", "look for model servers on this machine")
    .option("--events", "look at every event of the store, however many there are")
    .action(async ({ probe, events }) => {
      const { terminal, options } = session;
      const findings: Finding[] = [
        nodeFinding(process.versions.node),
        ...(await settingsFindings(session, events === true)),
        await sandboxFinding(),
        await providersFinding(),
        ...(probe ? await probeModels() : []),
      ];
      const problems = findings.filter(({ status }) => status === "problem");
      if (problems.length > 0) session.exitWith(exitCodes.failed);
      if (options.json) return terminal.json({ ok: problems.length === 0, findings });
      for (const finding of findings) {
        if (options.ndjson) await terminal.record(finding);
        else await terminal.line(lineOf(finding, session));
      }
    });
}

function lineOf({ check, status, detail, next }: Finding, { terminal }: Session): string {
  const { green, yellow, red, dim } = terminal.colors;
  const sign = { ok: green("✓ ok     "), note: yellow("! note   "), problem: red("✗ problem") }[status];
  return `${sign}  ${check.padEnd(10)} ${detail}${next === undefined ? "" : dim(`  → ${next}`)}`;
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  const fine = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return fine
    ? { check: "node", status: "ok", detail: version }
    : {
        check: "node",
        status: "problem",
        detail: `${version} is too old`,
        next: `install Node ${oldestNode.join(".")} or later`,
      };
}

async function settingsFindings(session: Session, allEvents: boolean): Promise<Finding[]> {
  try {
    const { file, store, model } = await session.settings();
    return [
      { check: "config", status: "ok", detail: file ?? "no config file: defaults" },
      { check: "model", status: "ok", detail: `${model.value} (${model.from})` },
      ...(await storeFindings(session, store.value, allEvents)),
    ];
  } catch (error) {
    return [{ check: "config", status: "problem", detail: (error as Error).message }];
  }
}

/** Opens the store; a file that is not there yet is left alone. */
async function storeFindings(session: Session, url: string, allEvents: boolean): Promise<Finding[]> {
  const { access, constants } = await import("node:fs/promises");
  const { dirname, resolve } = await import("node:path");
  const { withoutCredentials } = await import("../../../events/without-credentials.ts");
  const shown = withoutCredentials(url);
  const path = /^(?:sqlite:(?:\/\/(?=\/))?)?([^:]+)$/.exec(url)?.[1];
  try {
    if (
      path !== undefined &&
      !(await access(path).then(
        () => true,
        () => false,
      ))
    ) {
      let folder = dirname(resolve(path));
      while (
        !(await access(folder).then(
          () => true,
          () => false,
        )) &&
        dirname(folder) !== folder
      )
        folder = dirname(folder);
      await access(folder, constants.W_OK);
      return [
        {
          check: "store",
          status: "ok",
          detail: `${shown} is not there yet and will be made by the first run`,
        },
      ];
    }
    const { log } = await session.store();
    const threads = await log.streams({ prefix: "thread-", limit: 1000 });
    return [
      {
        check: "store",
        status: "ok",
        detail: `${shown}, ${threads.length === 1000 ? "1000 or more" : threads.length} threads`,
      },
      ...(await schemaFindings(session, allEvents)),
    ];
  } catch (error) {
    return [
      {
        check: "store",
        status: "problem",
        detail: `${shown}: ${(error as Error).message}`,
        next: "choose another with --store",
      },
    ];
  }
}

async function sandboxFinding(): Promise<Finding> {
  const { probeBubblewrap } = await import("../../../actors/sandboxes/bubblewrap.ts");
  const probed = await probeBubblewrap();
  return probed.works
    ? { check: "sandbox", status: "ok", detail: "commands run isolated by bubblewrap" }
    : {
        check: "sandbox",
        status: "note",
        detail: `commands run as your user: ${probed.reason}`,
        next: "install bubblewrap to isolate them",
      };
}

async function providersFinding(): Promise<Finding> {
  const { createRequire } = await import("node:module");
  const require = createRequire(import.meta.url);
  const installed = providers.filter((name) => {
    try {
      require.resolve(`${name}/package.json`);
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
    }
  });
  return installed.length > 0
    ? { check: "providers", status: "ok", detail: installed.join(", ") }
    : {
        check: "providers",
        status: "note",
        detail: "none installed: only builtin:planner and replay: work",
        next: "npm install @langchain/openai",
      };
}

/** Asks each usual port for its models. Nothing else of the network is touched. */
async function probeModels(): Promise<Finding[]> {
  const found = await Promise.all(
    localServers.map(async ([port, name]): Promise<Finding[]> => {
      const base = `http://127.0.0.1:${port}/v1`;
      try {
        const response = await fetch(`${base}/models`, { signal: AbortSignal.timeout(probeTimeoutMs) });
        const { data } = (await response.json()) as { data?: readonly { id: string }[] };
        const model = data?.[0]?.id;
        if (model === undefined) return [];
        const next = `OPENAI_BASE_URL=${base} threadfold run --model openai:${model} "…"`;
        return [
          {
            check: "probe",
            status: "ok",
            detail: `${name} on port ${port} has ${data?.length} models`,
            next,
          },
        ];
      } catch {
        return [];
      }
    }),
  );
  const servers = found.flat();
  const ports = localServers.map(([port]) => port).join(", ");
  return servers.length > 0
    ? servers
    : [{ check: "probe", status: "note", detail: `no model server on the ports ${ports} of this machine` }];
}
