import type fc from "fast-check";
import type { EventDraft } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import type { LawSubject } from "./law-subject.ts";

/** A law does not hold for these events. */
export class LawBreach extends Error {
  override readonly name = "LawBreach";
  constructor(
    /** What was seen, and what the law says instead. */
    readonly reason: string,
    /** The events that show it, when they are not just those that were given. */
    readonly events?: readonly FoldEvent[],
  ) {
    super(reason);
  }
}

/** One thing that holds for every log, or for every log of reducers that claim it. */
export interface Law {
  /** Kebab-case, as in `--laws snapshot-cut`. */
  readonly name: string;
  /** What always holds, as one sentence. */
  readonly statement: string;
  /** True when the law belongs to what this subject is or claims. */
  appliesTo(subject: LawSubject): boolean;
  /** Drafts that this law needs in place of any drafts of the subject. */
  readonly drafts?: (subject: LawSubject) => fc.Arbitrary<readonly EventDraft[]>;
  /**
   * Checks one log: what the subject refuses among the drafts is left out, as the runtime would.
   * @throws {LawBreach}
   */
  check(subject: LawSubject, drafts: readonly EventDraft[]): void;
}

const maxShownLength = 300;

/** A value for a reason: its JSON, cut when it is long. Values that JSON cannot hold are named. */
export function shown(value: unknown): string {
  const text =
    JSON.stringify(value, (_key, member: unknown) =>
      typeof member === "object" && member !== null && !Array.isArray(member) && !isPlain(member)
        ? `[${member.constructor?.name ?? "object"}]`
        : typeof member === "bigint" || typeof member === "function" || typeof member === "symbol"
          ? `[${typeof member}]`
          : member,
    ) ?? "undefined";
  return text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength)}…`;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
