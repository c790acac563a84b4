import { SideConflict, type SideStore } from "../events/log/side-store.ts";

interface Lease {
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const leaseKind = "projection-owner";

/** The right to feed one projection, held by one process at a time. */
export interface Ownership {
  /** Takes the right, or prolongs it. False: another owner has it and is alive. */
  claim(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * A lease in the side store, taken by compare and set. An owner that does not renew it loses it after `leaseMs`. It
 * saves work; that no event is counted twice is guarded by the revision of each commit.
 */
export function createOwnership(options: {
  readonly side: SideStore;
  readonly name: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly now?: () => number;
}): Ownership {
  const { side, name, owner, leaseMs, now = Date.now } = options;
  return {
    async claim() {
      const record = await side.get(leaseKind, name);
      const lease = record?.value as Lease | undefined;
      if (lease && lease.owner !== owner && lease.expiresAt > now()) return false;
      try {
        await side.put(
          leaseKind,
          name,
          { owner, expiresAt: now() + leaseMs },
          { ifRevision: record?.revision ?? 0 },
        );
        return true;
      } catch (error) {
        if (error instanceof SideConflict) return false;
        throw error;
      }
    },
    async release() {
      const record = await side.get(leaseKind, name);
      if (!record || (record.value as unknown as Lease).owner !== owner) return;
      try {
        await side.put(leaseKind, name, { owner, expiresAt: 0 }, { ifRevision: record.revision });
      } catch (error) {
        if (!(error instanceof SideConflict)) throw error;
      }
    },
  };
}
