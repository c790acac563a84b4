import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";
import type { GlobalOptions } from "./global-options.ts";

/** The config file cannot be used. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(
    readonly path: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(
      `The config file ${path} cannot be used. ${reason} Mend the file, or name another one with --config.`,
      options,
    );
  }
}

/** One setting and where it comes from. */
interface Setting<Value> {
  readonly value: Value;
  readonly from: "flag" | "environment" | "config file" | "default";
}

/** Settings of one call: flags, then environment, then config file, then defaults. */
export interface Settings {
  /** The config file that was read; undefined: there is none. */
  readonly file: string | undefined;
  readonly store: Setting<string>;
  readonly model: Setting<string>;
  /** Encrypt the content of a new store; undefined: as the store was begun. */
  readonly encrypt: Setting<boolean | undefined>;
  /** File that exports the agent; undefined: the built-in one. */
  readonly agent: Setting<string | undefined>;
  /** Files of the agents that the server offers, by name. */
  readonly agents: Readonly<Record<string, string>>;
  /** What the config file says about the server, unchecked. */
  readonly server: Readonly<Record<string, unknown>>;
}

const defaultStore = "sqlite:.threadfold/threads.db";
const defaultModel = "builtin:planner";

const configSchema = lazySchema((z) =>
  z.strictObject({
    /** Store URL. A relative path of SQLite starts at the config file. */
    store: z.string().min(1).optional(),
    /** Encrypt the content of threads, with keys beside the log. */
    encrypt: z.boolean().optional(),
    /** Name of a model, as for `--model`. */
    model: z.string().min(1).optional(),
    /** Path of a file that exports an agent, from the config file. */
    agent: z.string().min(1).optional(),
    /** Agents that `threadfold serve` offers: name → path of a file, from the config file. */
    agents: z.record(z.string().regex(/^[\w-]{1,64}$/), z.string().min(1)).optional(),
    /** Settings of `threadfold serve`; the server checks them. */
    server: z.record(z.string(), z.unknown()).optional(),
  }),
);
type Config = z.infer<ReturnType<typeof configSchema>>;

const fileNames = ["threadfold.config.ts", "threadfold.config.mjs", "threadfold.config.json"];

/** The config file of a folder or of the nearest folder above. */
export function findConfigFile(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = fileNames.map((name) => resolve(at, name)).find((path) => existsSync(path));
    if (found) return found;
    if (dirname(at) === at) return undefined;
  }
}

/** @throws {ConfigError} */
async function readConfigFile(path: string): Promise<Config> {
  let value: unknown;
  try {
    const { createJiti } = await import("jiti");
    value = await createJiti(import.meta.url).import(path, { default: true });
  } catch (cause) {
    throw new ConfigError(path, `It does not load: ${(cause as Error).message.split("\n")[0]}.`, { cause });
  }
  const result = configSchema().safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.length ? `"${issue.path.join(".")}": ` : "";
  throw new ConfigError(path, `${where}${issue?.message ?? "It exports no object"}.`);
}

function beside(file: string, path: string): string {
  return resolve(dirname(file), path);
}

/** A store of the config file, seen from where the file is. */
function storeBeside(file: string, url: string): string {
  const path = /^(?:sqlite:)?(?!\/\/)([^:]+)$/.exec(url)?.[1];
  return path === undefined ? url : `sqlite:${beside(file, path)}`;
}

function choose<Value>(
  candidates: readonly (Setting<Value | undefined> | undefined)[],
  fallback: Value,
): Setting<Value> {
  const found = candidates.find((candidate) => candidate?.value !== undefined);
  return (found as Setting<Value> | undefined) ?? { value: fallback, from: "default" };
}

/**
 * Reads the settings of one call.
 *
 * @throws {ConfigError}
 */
export async function readSettings(
  options: GlobalOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Settings> {
  const file = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
  const config = file === undefined ? {} : await readConfigFile(file);
  const fromFile = (value: string | undefined) => ({ value, from: "config file" as const });
  // Commander reads THREADFOLD_STORE, too; what equals it counts as coming from there.
  const storeFlag = options.store === env.THREADFOLD_STORE ? undefined : options.store;
  return {
    file,
    store: choose<string>(
      [
        { value: storeFlag, from: "flag" },
        { value: env.THREADFOLD_STORE || undefined, from: "environment" },
        fromFile(file && config.store && storeBeside(file, config.store)),
      ],
      defaultStore,
    ),
    encrypt: choose<boolean | undefined>([{ value: config.encrypt, from: "config file" }], undefined),
    model: choose<string>(
      [{ value: env.THREADFOLD_MODEL || undefined, from: "environment" }, fromFile(config.model)],
      defaultModel,
    ),
    agent: choose<string | undefined>(
      [
        { value: env.THREADFOLD_AGENT || undefined, from: "environment" },
        fromFile(file && config.agent && beside(file, config.agent)),
      ],
      undefined,
    ),
    agents: Object.fromEntries(
      Object.entries(config.agents ?? {}).map(([name, path]) => [name, beside(file ?? "", path)]),
    ),
    server: config.server ?? {},
  };
}
