import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

const packagesFolder = "/usr/lib/postgresql";

/** Folder with the binaries of the newest server that Debian's packages installed; undefined: none. */
function findBinaries(): string | undefined {
  if (!existsSync(packagesFolder)) return undefined;
  const folders = readdirSync(packagesFolder).sort((a, b) => Number(b) - Number(a));
  return folders
    .map((version) => join(packagesFolder, version, "bin"))
    .find((bin) => existsSync(join(bin, "initdb")));
}

const binaries = findBinaries();

/** Without a server here its tests are skipped, unless the environment says that nothing may be missing. */
export const hasPostgres = binaries !== undefined || process.env.THREADFOLD_REQUIRE_SYSTEM === "1";
if (!hasPostgres)
  process.stderr.write("Skipped: no PostgreSQL server here. Install it with: apt-get install postgresql\n");

/** The server refuses to run as root, so it runs as the user that the package made. */
function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("A port was asked for");
  return address.port;
}

/** A real server of its own, in a temporary folder, on 127.0.0.1. */
export interface PostgresServer {
  readonly port: number;
  /** URL of a schema that is not there yet. */
  newUrl(): string;
  /** URL with other parts. */
  url(parts: { user?: string; password?: string; database?: string; query?: string }): string;
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and files. */
  restart(): Promise<void>;
  /** Runs statements as the superuser. */
  sql(text: string): Promise<readonly Record<string, unknown>[]>;
  /** Stops it and removes its files. */
  stop(): Promise<void>;
}

/** How long a test file may wait for its server on a busy machine. */
export const serverStartMs = 120_000;

const password = "a password: /@?#";
let schemas = 0;

/**
 * @param around command that runs the server, by its folder: to give it another view of the machine
 */
export async function startPostgres(
  settings: readonly string[] = ["fsync=off"],
  around: (folder: string) => readonly string[] = () => [],
): Promise<PostgresServer> {
  if (binaries === undefined) {
    throw new Error("There is no PostgreSQL server. Install it with: apt-get install postgresql");
  }
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), "threadfold-postgres-"));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const run = { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8" }, ...user };
  execFileSync(
    "sh",
    [
      "-c",
      'cat > "$1/pw" && exec "$2" -D "$3" -U tester -A scram-sha-256 -E UTF8 --pwfile="$1/pw" -N',
      "sh",
      folder,
      join(binaries, "initdb"),
      data,
    ],
    { ...run, input: password, stdio: ["pipe", "ignore", "pipe"] },
  );
  const port = await freePort();
  const url: PostgresServer["url"] = (parts) => {
    const { user: name = "tester", password: word = password, database = "postgres", query = "" } = parts;
    return `postgres://${name}:${encodeURIComponent(word)}@127.0.0.1:${port}/${database}${query}`;
  };
  let server: ChildProcess | undefined;

  const start = async () => {
    const options = [
      `port=${port}`,
      "listen_addresses=127.0.0.1",
      `unix_socket_directories=${folder}`,
      ...settings,
    ];
    const [command = "", ...args] = [
      ...around(folder),
      join(binaries, "postgres"),
      ...["-D", data],
      ...options.flatMap((option) => ["-c", option]),
    ];
    server = spawn(command, args, { ...run, stdio: ["ignore", "ignore", "pipe"] });
    // Also when the process of the tests ends early.
    const { pid } = server;
    process.once("exit", () => {
      if (pid !== undefined && server?.pid === pid && server.exitCode === null) server.kill("SIGQUIT");
    });
    let complaint = "";
    server.stderr?.on("data", (chunk) => {
      complaint += chunk;
    });
    for (;;) {
      if (server.exitCode !== null) throw new Error(`The server did not start: ${complaint}`);
      const client = new pg.Client({ connectionString: url({}) });
      const isUp = await client.connect().then(
        () => true,
        () => false,
      );
      await client.end().catch(() => undefined);
      if (isUp) return;
      await pause(20);
    }
  };

  const end = async (signal: NodeJS.Signals) => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
  };

  await start();
  return {
    port,
    url,
    newUrl: () => url({ query: `?schema=test_${process.pid}_${++schemas}` }),
    // "Immediate": its processes end at once, without a checkpoint and without telling their clients more.
    kill: () => end("SIGQUIT"),
    restart: start,
    async sql(text) {
      const client = new pg.Client({ connectionString: url({}) });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    async stop() {
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
