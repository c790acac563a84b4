import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { exitCodeFor } from "../../apps/cli/exit-codes.ts";
import { serverOf, withoutCredentials } from "../../events/without-credentials.ts";
import { type ContractTarget, closeTarget, openTarget, TargetError } from "./target.ts";

const usage = `npm run contract                    the contract suites on every store that runs here
npm run contract -- <url> [options] the contract suites on a real server

  kurrentdb://user:password@host:2113   also esdb:// and +discover; streams "contract-…" are made and erased
  postgres://user:password@host/db      schemas "contract_…" are made and dropped

  --events <count>   events of the large test, a multiple of 2,000 (default 100000)
  --client <name>    of KurrentDB: @kurrent/kurrentdb-client (default) or @eventstore/db-client
  --only <text>      only tests whose name contains this text
  --help

Nothing but what this run made is read or changed. Try it on a server that nobody depends on all the same.`;

const clients = ["@kurrent/kurrentdb-client", "@eventstore/db-client"];

function refuse(message: string): never {
  process.stderr.write(`error: ${message}\n\n${usage}\n`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        events: { type: "string", default: "100000" },
        client: { type: "string", default: "" },
        only: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error));
  }
}

const { values: given, positionals } = readArguments();
if (given.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
const [url, ...more] = positionals;
const events = Number(given.events);
if (more.length > 0) refuse("Give one URL at most.");
if (!Number.isInteger(events) || events < 2000 || events % 2000 !== 0)
  refuse(`--events takes a multiple of 2,000, not "${given.events}".`);
if (given.client !== "" && !clients.includes(given.client))
  refuse(`--client is one of ${clients.join(", ")}, not "${given.client}".`);
if (url !== undefined && !/^(postgres(ql)?|(kurrentdb|esdb)(\+discover)?):\/\//i.test(url))
  refuse(`"${withoutCredentials(url)}" is no URL of a server. Use kurrentdb://, esdb:// or postgres://.`);

/** Opens the server once, so that what is wrong with the URL is one line and not two hundred failed tests. */
async function tryTarget(target: ContractTarget): Promise<void> {
  const opened = await openTarget(target);
  const { kind } = opened.log;
  await opened.dispose();
  await closeTarget();
  process.stdout.write(
    `Contract of the event log on ${target.shown} (${kind}), ${target.events} events in the large test.\n`,
  );
}

const noMatchReporter = fileURLToPath(new URL("no-match-reporter.ts", import.meta.url));

function runVitest(files: readonly string[], environment: Record<string, string>): Promise<number> {
  const text = given.only?.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const reporters = ["default", noMatchReporter, "./test/closing-line-reporter.ts"];
  const only = text === undefined ? [] : ["-t", text, ...reporters.map((path) => `--reporter=${path}`)];
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const child = spawn(process.execPath, [vitest, "run", ...files, ...only], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { ...process.env, ...environment, CONTRACT_ONLY: given.only },
    stdio: "inherit",
  });
  return new Promise((resolve) => child.once("close", (code) => resolve(code ?? 1)));
}

if (url === undefined) {
  process.exitCode = await runVitest(["test/events/log", "test/events/blobs", "test/events/keys"], {});
} else {
  const folder = mkdtempSync(join(tmpdir(), "threadfold-contract-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const target: ContractTarget = {
    url,
    folder,
    shown: serverOf(url),
    events,
    client: given.client || clients[0] || "",
    run: randomBytes(4).toString("hex"),
  };
  try {
    await tryTarget(target);
    const environment = { CONTRACT_TARGET: JSON.stringify(target) };
    const config = fileURLToPath(new URL("vitest.config.ts", import.meta.url));
    process.exitCode = await runVitest(["--config", config], environment);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(exitCodeFor(error.cause));
  }
}
