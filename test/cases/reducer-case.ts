/** A fact about one field: what it holds after an update, or after events. `null` before: the field is absent. */
export interface ReducerCase {
  readonly id: string;
  readonly title: string;
  readonly field: string;
  readonly before: unknown;
  /** A plain update, as a hook returns it. */
  readonly update?: unknown;
  /** Events, where the fact is about an event. */
  readonly events?: readonly { readonly type: string; readonly data: unknown }[];
  readonly after?: unknown;
  /** Name of the error that refuses the update. */
  readonly error?: string;
}
