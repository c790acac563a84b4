import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";

const characters = lazySchema((z) => z.int().min(0));

/** The config block of the tool output budget. All sizes are characters. */
const toolOutputConfigSchema = lazySchema((z) =>
  z.strictObject({
    enabled: z.boolean().default(true),
    /** Results that are longer go to a file; a result of exactly this length stays. */
    externalize_above: characters().default(12_000),
    /** Beginning and end that stay in the message when the rest is in a file. */
    preview_head: characters().default(2_000),
    preview_tail: characters().default(1_000),
    /** Where no file can be written, and in what a model is shown of earlier results, this is the longest result. */
    fallback_max: z.int().min(1).default(30_000),
    fallback_head: characters().default(8_000),
    fallback_tail: characters().default(3_000),
    /** Folder below the outputs: one name. */
    storage_folder: z
      .string()
      .regex(/^[\w.-]+$/, "must be one folder name")
      .refine((name) => name !== "." && name !== "..", "must be one folder name")
      .default(".tool-results"),
    /** Tools whose results always stay as they are. */
    exempt_tools: z.array(z.string()).default(["read_file", "read_file_tool"]),
    /** Thresholds of single tools in place of `externalize_above`; 0: never to a file. */
    tool_overrides: z.record(z.string(), characters()).default({}),
  }),
);

export type ToolOutputConfig = z.output<ReturnType<typeof toolOutputConfigSchema>>;
export type ToolOutputConfigInput = z.input<ReturnType<typeof toolOutputConfigSchema>>;

/** The config of the tool output budget has an unknown key or a value out of range. */
export class ToolOutputConfigError extends Error {
  override readonly name = "ToolOutputConfigError";
  constructor(readonly issues: readonly string[]) {
    super(`The config of the tool output budget is not valid: ${issues.join("; ")}. Mend these keys.`);
  }
}

/**
 * Reads the config; what is left out has its default.
 *
 * @throws {ToolOutputConfigError}
 */
export function readToolOutputConfig(config: unknown): ToolOutputConfig {
  const result = toolOutputConfigSchema().safeParse(config ?? {});
  if (result.success) return result.data;
  throw new ToolOutputConfigError(
    result.error.issues.map((issue) => `${issue.path.join(".") || "config"}: ${issue.message}`),
  );
}
