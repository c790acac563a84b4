import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";

/** The config block of titles, with the names and ranges that a config file has. */
const titleConfigSchema = lazySchema((z) =>
  z.strictObject({
    /** False: threads get no title of their own. */
    enabled: z.boolean().default(true),
    /** Words that an LLM title is asked to have. */
    max_words: z.int().min(1).max(20).default(6),
    /** Characters of a title, the dots at its end included. */
    max_chars: z.int().min(10).max(200).default(60),
    /** Model that writes titles; null: the title is cut from the first message, at once. */
    model_name: z.string().min(1).nullable().default(null),
    /** Takes `{max_words}`, `{user_msg}` and `{assistant_msg}`; braces are written twice. */
    prompt_template: z
      .string()
      .default(
        "Write a title of at most {max_words} words for this conversation, in the user's language. Answer with the title only.\nUser: {user_msg}\nAssistant: {assistant_msg}",
      ),
  }),
);

export type TitleConfig = z.output<ReturnType<typeof titleConfigSchema>>;
export type TitleConfigInput = z.input<ReturnType<typeof titleConfigSchema>>;

/** The title's config has an unknown key or a value out of range. */
export class TitleConfigError extends Error {
  override readonly name = "TitleConfigError";
  constructor(readonly issues: readonly string[]) {
    super(
      `The config of titles is not valid: ${issues.join("; ")}. Keys are enabled, max_words (1 to 20), max_chars (10 to 200), model_name and prompt_template.`,
    );
  }
}

/**
 * Reads the config of titles: a block as a config file holds it (`{ title: { … } }`), or the keys themselves. What is
 * left out has its default.
 *
 * @throws {TitleConfigError}
 * @example
 * readTitleConfig({ title: { max_words: 8 } }).max_words; // 8
 */
export function readTitleConfig(config: unknown): TitleConfig {
  const block = typeof config === "object" && config !== null && "title" in config ? config.title : config;
  const result = titleConfigSchema().safeParse(block ?? {});
  if (result.success) return result.data;
  throw new TitleConfigError(
    result.error.issues.map((issue) => `${issue.path.join(".") || "title"}: ${issue.message}`),
  );
}
