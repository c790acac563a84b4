import {
  type BubblewrapOptions,
  BubblewrapUnavailableError,
  bubblewrapSandboxProvider,
  probeBubblewrap,
} from "./bubblewrap.ts";
import { localSandboxProvider } from "./local.ts";
import type { SandboxProvider } from "./sandbox.ts";

export interface ChooseProviderOptions extends BubblewrapOptions {
  /** `bubblewrap`: it or an error; `local`: never isolated. Default: bubblewrap where it works, else local. */
  readonly prefer?: "bubblewrap" | "local";
}

/** The provider, and why it was chosen, for people to read. */
export interface ChosenProvider {
  readonly provider: SandboxProvider;
  readonly isolated: boolean;
  readonly reason: string;
}

/**
 * Chooses how commands run: isolated by bubblewrap when the program is there and the kernel lets it work, which is
 * tried once, else as the user of this process.
 *
 * @throws {BubblewrapUnavailableError} when bubblewrap is asked for and does not work
 * @example
 * const { provider, reason } = await chooseSandboxProvider({ network: false });
 */
export async function chooseSandboxProvider(options: ChooseProviderOptions = {}): Promise<ChosenProvider> {
  const { prefer, ...sandbox } = options;
  if (prefer === "local") {
    return { provider: localSandboxProvider(sandbox), isolated: false, reason: "Local was asked for." };
  }
  const probe = await probeBubblewrap(sandbox);
  if (probe.works) {
    return { provider: bubblewrapSandboxProvider(sandbox), isolated: true, reason: "Bubblewrap works here." };
  }
  if (prefer === "bubblewrap") throw new BubblewrapUnavailableError(probe.reason);
  const reason = `${probe.reason} Commands run as the user of this process.`;
  return { provider: localSandboxProvider(sandbox), isolated: false, reason };
}
