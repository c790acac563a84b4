/** What a step works on: named files, all files of a folder with an ending, or what the step before it gave. */
export type Target =
  | { readonly kind: "files"; readonly paths: readonly string[] }
  | { readonly kind: "matching"; readonly folder: string; readonly endings: readonly string[] }
  | { readonly kind: "previous" };

export type CountUnit = "words" | "lines" | "characters";

/** One thing that the planner can do. */
export type Step =
  | { readonly kind: "list"; readonly folder: string; readonly endings: readonly string[] }
  | { readonly kind: "read"; readonly target: Target }
  | { readonly kind: "summarize"; readonly target: Target }
  | { readonly kind: "count"; readonly unit: CountUnit; readonly target: Target }
  /** `text` undefined: the result of the step before. */
  | { readonly kind: "write"; readonly path: string; readonly text: string | undefined }
  | { readonly kind: "replace"; readonly target: Target; readonly from: string; readonly to: string }
  | { readonly kind: "search"; readonly text: string; readonly folder: string }
  | { readonly kind: "calculate"; readonly expression: string }
  | { readonly kind: "run"; readonly command: string }
  /** No items: the steps that follow are the plan, and are ticked off as they end. */
  | { readonly kind: "plan"; readonly items: readonly string[] }
  | { readonly kind: "present"; readonly target: Target }
  | { readonly kind: "help" }
  | { readonly kind: "unknown" };

/** A step with the words that asked for it. */
export interface PlannedStep {
  readonly step: Step;
  readonly words: string;
}
