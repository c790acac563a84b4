import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLease } from "../../actors/lease.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import type { SideStore } from "../../events/log/side-store.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a lease", () => {
  test("lives while a run is held, and lapses after", async () => {
    const side = createMemorySide();
    const [owner, other] = [createLease({ side, leaseMs: 300 }), createLease({ side, leaseMs: 300 })];
    expect(await other.isLive(owner.owner)).toBe(false);
    await owner.hold();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await other.isLive(owner.owner)).toBe(true);
    owner.release();
    await vi.advanceTimersByTimeAsync(300);
    expect(await other.isLive(owner.owner)).toBe(false);
  });

  test("is one record, however many runs hold it", async () => {
    const side = createMemorySide();
    const put = vi.spyOn(side, "put");
    const lease = createLease({ side, leaseMs: 300 });
    for (let run = 0; run < 50; run++) await lease.hold();
    expect(put).toHaveBeenCalledTimes(1);
    for (let run = 0; run < 49; run++) lease.release();
    await vi.advanceTimersByTimeAsync(300);
    expect(put).toHaveBeenCalledTimes(4);
    expect(await side.list("lease")).toHaveLength(1);
  });

  test("ends with its process's last word", async () => {
    const side = createMemorySide();
    const lease = createLease({ side, leaseMs: 300 });
    await lease.hold();
    await lease.close();
    expect(await side.list("lease")).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await side.list("lease")).toEqual([]);
  });

  test("a run is not started when the first record cannot be written; a later renewal may fail", async () => {
    const inner = createMemorySide();
    let broken = true;
    const side: SideStore = {
      ...inner,
      put: async (...args) => {
        if (broken) throw new Error("read only");
        return inner.put(...args);
      },
    };
    const renewals = vi.fn();
    const lease = createLease({ side, leaseMs: 300, onRenewal: renewals });
    await expect(lease.hold()).rejects.toThrow("read only");
    broken = false;
    await lease.hold();
    broken = true;
    await vi.advanceTimersByTimeAsync(200);
    broken = false;
    await vi.advanceTimersByTimeAsync(100);
    expect(await lease.isLive(lease.owner)).toBe(true);
    expect(renewals).toHaveBeenCalledTimes(3);
  });

  test("records of another shape are no lease", async () => {
    const side = createMemorySide();
    await side.put("lease", "x", { till: "tomorrow" });
    expect(await createLease({ side, leaseMs: 300 }).isLive("x")).toBe(false);
  });
});
