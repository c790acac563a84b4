import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

/** A provider's package is not installed. */
export class MissingProviderError extends Error {
  override readonly name = "MissingProviderError";
  constructor(
    readonly provider: string,
    readonly packageName: string,
    options?: ErrorOptions,
  ) {
    super(
      `The model provider "${provider}" needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
      options,
    );
  }
}

/** A provider wants a key and there is none. */
export class MissingKeyError extends Error {
  override readonly name = "MissingKeyError";
  constructor(
    readonly provider: string,
    readonly variable: string,
    hint = "",
  ) {
    super(
      `The model provider "${provider}" needs an API key, and ${variable} is not set. Set ${variable}${hint}.`,
    );
  }
}

/** A provider of chat models by name. */
export interface Provider {
  readonly packageName: string;
  /** @throws {MissingKeyError} and whatever the import of the package throws */
  load(model: string): Promise<BaseChatModel>;
}

function requiredKey(provider: string, variables: readonly string[]): string {
  const key = variables
    .map((variable) => process.env[variable])
    .find((value) => value !== undefined && value !== "");
  if (key === undefined) throw new MissingKeyError(provider, variables[0] ?? "");
  return key;
}

/** Tries after a first one that failed. Middlewares that try again say so in the log, which is better. */
const maxRetries = 1;

/** Providers by the word before the colon. Each package is imported when its first model is asked for. */
export const providers: Readonly<Record<string, Provider>> = {
  openai: {
    packageName: "@langchain/openai",
    async load(model) {
      const { ChatOpenAI } = await import("@langchain/openai");
      const baseURL = process.env.OPENAI_BASE_URL || undefined;
      const key = process.env.OPENAI_API_KEY || undefined;
      if (!key && !baseURL) {
        throw new MissingKeyError(
          "openai",
          "OPENAI_API_KEY",
          ", or OPENAI_BASE_URL for a server of your own",
        );
      }
      // Servers of one's own take any key, but the client wants one.
      return new ChatOpenAI({
        model,
        maxRetries,
        apiKey: key ?? "none",
        ...(baseURL && { configuration: { baseURL } }),
      });
    },
  },
  anthropic: {
    packageName: "@langchain/anthropic",
    async load(model) {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      return new ChatAnthropic({
        model,
        maxRetries,
        apiKey: requiredKey("anthropic", ["ANTHROPIC_API_KEY"]),
      });
    },
  },
  ollama: {
    packageName: "@langchain/ollama",
    async load(model) {
      const { ChatOllama } = await import("@langchain/ollama");
      const baseUrl = process.env.OLLAMA_BASE_URL || process.env.OLLAMA_HOST || undefined;
      return new ChatOllama({ model, maxRetries, ...(baseUrl && { baseUrl }) });
    },
  },
  "google-genai": {
    packageName: "@langchain/google-genai",
    async load(model) {
      const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
      const apiKey = requiredKey("google-genai", ["GOOGLE_API_KEY", "GEMINI_API_KEY"]);
      return new ChatGoogleGenerativeAI({ model, maxRetries, apiKey });
    },
  },
};

function isMissing(error: unknown, packageName: string): boolean {
  return (
    error instanceof Error &&
    (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(packageName)
  );
}

/**
 * Loads a provider's model and turns a package that is not there into an error that says what to install.
 *
 * @throws {MissingProviderError} @throws {MissingKeyError}
 */
export async function loadFromProvider(
  name: string,
  provider: Provider,
  model: string,
): Promise<BaseChatModel> {
  try {
    return await provider.load(model);
  } catch (cause) {
    if (isMissing(cause, provider.packageName))
      throw new MissingProviderError(name, provider.packageName, { cause });
    throw cause;
  }
}
