import { randomBytes } from "node:crypto";
import type { SideStore } from "../events/log/side-store.ts";
import { lazySchema } from "../events/zod.ts";

const leaseKind = "lease";
const leaseSchema = lazySchema((z) => z.object({ until: z.number() }));

/** How many renewals fit into the time that a lease lasts. */
const renewalsPerLease = 3;

/**
 * The lease of one process: while it has open runs it says in the side store that it is alive. One record for all of
 * them, beside the log, so that a run costs no write of its own.
 */
export interface Lease {
  /** Opaque id of this owner, as `RunStarted` names it. */
  readonly owner: string;
  /** Call before a run is recorded as started: from then on the lease is renewed. */
  hold(): Promise<void>;
  /** One run less is open. */
  release(): void;
  /** True while the owner of a run has renewed its lease in time. Clocks of machines must agree within the lease. */
  isLive(owner: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * @param options.onRenewal called with each renewal, for work that goes with it; must not throw
 */
export function createLease(options: {
  readonly side: SideStore;
  /** Milliseconds that the lease lasts without renewal. */
  readonly leaseMs: number;
  readonly onRenewal?: () => void;
}): Lease {
  const { side, leaseMs, onRenewal } = options;
  const owner = randomBytes(8).toString("hex");
  const renewalMs = leaseMs / renewalsPerLease;
  let holders = 0;
  let validUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> | undefined;

  const renew = (): Promise<void> => {
    renewing ??= (async () => {
      const until = Date.now() + leaseMs;
      try {
        await side.put(leaseKind, owner, { until });
        validUntil = until;
      } finally {
        renewing = undefined;
      }
    })();
    return renewing;
  };
  const tick = () => {
    // A renewal that fails costs nothing yet: the next one may succeed, and the log decides who owns a run.
    renew().catch(() => undefined);
    onRenewal?.();
  };

  return {
    owner,
    async hold() {
      holders += 1;
      timer ??= setInterval(tick, renewalMs).unref();
      if (validUntil - Date.now() >= leaseMs - renewalMs) return;
      try {
        await renew();
      } catch (error) {
        this.release();
        throw error;
      }
    },
    release() {
      holders -= 1;
      if (holders > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
    async isLive(other) {
      const record = await side.get(leaseKind, other);
      const parsed = leaseSchema().safeParse(record?.value);
      return parsed.success && parsed.data.until > Date.now();
    },
    async close() {
      clearInterval(timer);
      timer = undefined;
      holders = 0;
      await renewing?.catch(() => undefined);
      if (validUntil > 0) await side.delete(leaseKind, owner);
    },
  };
}
