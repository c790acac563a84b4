import type { Json } from "../json.ts";
import { checkText } from "./storable-text.ts";

/** A record was changed by somebody else since it was read. */
export class SideConflict extends Error {
  override readonly name = "SideConflict";
  constructor(
    readonly kind: string,
    readonly key: string,
  ) {
    super(`Record ${kind}/${key} was changed by another process. Read it again.`);
  }
}

export interface SideRecord {
  readonly key: string;
  readonly value: Json;
  /** Counts from 1; 0 stands for "no record". */
  readonly revision: number;
}

/**
 * Small records beside the log that are not the truth: leases, snapshots, checkpoints. Losing them costs time, never
 * data.
 */
export interface SideStore {
  get(kind: string, key: string): Promise<SideRecord | undefined>;
  /**
   * Writes a record and gives its new revision. With `ifRevision` only when the record is still at that revision.
   * @throws {SideConflict}
   */
  put(kind: string, key: string, value: Json, options?: { ifRevision?: number }): Promise<number>;
  delete(kind: string, key: string): Promise<void>;
  /** Records of a kind by key. */
  list(
    kind: string,
    options?: { prefix?: string; after?: string; limit?: number },
  ): Promise<readonly SideRecord[]>;
}

/** @throws {InvalidTextError} */
export function checkRecordName(kind: string, key: string): void {
  checkText("The kind of record", kind);
  checkText("The key of a record", key);
}
