import { asEncrypted } from "../events/keys/with-encryption.ts";
import type { Store } from "../events/store.ts";
import { createStateReader } from "../projections/state-at.ts";
import { createStateHasher } from "../projections/state-hash.ts";
import type { AgentOptions } from "./agent-contract.ts";
import type { Assembly } from "./assembly.ts";
import { createLease } from "./lease.ts";
import type { Environment } from "./run-scope.ts";
import { createViewFold } from "./thread-view.ts";

/** Milliseconds that the lease of a run lasts without renewal. */
const defaultLeaseMs = 15_000;

const hookPhases = ["beforeAgent", "beforeModel", "afterModel", "afterAgent"] as const;

/**
 * Puts together what all threads of an agent share.
 *
 * @param onRenewal called each time the lease is renewed
 */
export function openEnvironment(
  assembly: Assembly,
  store: Store,
  options: Pick<AgentOptions, "leaseMs" | "limits" | "recovery" | "whenBusy">,
  onRenewal: () => void,
): Environment {
  const { log, side } = store;
  asEncrypted(store)?.learn(assembly.registry);
  const { leaseMs = defaultLeaseMs, limits = {}, recovery = "close", whenBusy = "reject" } = options;
  const fold = createViewFold(assembly.reducer, assembly.registry);
  return {
    assembly,
    store,
    fold,
    hooks: new Set(hookPhases.filter((phase) => assembly.middleware.some((one) => one[phase]))),
    wrapsModelCalls: assembly.middleware.some(({ wrapModelCall }) => wrapModelCall !== undefined),
    releases: assembly.middleware.some(({ release }) => release !== undefined),
    reader: createStateReader({ log, side, reducer: fold.reducer, registry: assembly.registry }),
    lease: createLease({ side, leaseMs, onRenewal }),
    hasher: createStateHasher(),
    limits,
    recovery,
    whenBusy,
  };
}
