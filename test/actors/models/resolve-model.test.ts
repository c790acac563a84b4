import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { loadFromProvider, MissingKeyError, MissingProviderError } from "../../../actors/models/providers.ts";
import { modelNameOf, resolveModel, UnknownModelError } from "../../../actors/models/resolve-model.ts";
import { ScriptedModel } from "../scripted-model.ts";

interface Request {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

test.each([undefined, null, 5, {}, { invoke: () => undefined }])("%j is no model", async (spec) => {
  expect(() => modelNameOf(spec as never)).toThrow(UnknownModelError);
  await expect(resolveModel(spec as never)).rejects.toThrow("neither a text nor a chat model of LangChain");
});

/** A server on this machine that speaks enough of OpenAI's protocol to answer one question. */
async function openAiServer() {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      requests.push({ path: request.url, authorization: request.headers.authorization, body });
      const model = body.model as string;
      if (body.stream) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const content of ["Hel", "lo"]) {
          const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }];
          response.write(
            `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model, choices })}\n\n`,
          );
        }
        const choices = [{ index: 0, delta: {}, finish_reason: "stop" }];
        response.write(
          `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model, choices })}\n\n`,
        );
        response.end("data: [DONE]\n\n");
        return;
      }
      const tool_calls = [
        { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } },
      ];
      const message = { role: "assistant", content: null, tool_calls };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          id: "1",
          object: "chat.completion",
          model,
          choices: [{ index: 0, message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

const keys = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"];
beforeEach(() => {
  for (const key of keys) vi.stubEnv(key, "");
});
afterEach(() => vi.unstubAllEnvs());

const add = tool(({ a, b }) => String(a + b), {
  name: "add",
  description: "Adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});

describe("openai:<model> through LangChain's package", () => {
  test("asks the server of OPENAI_BASE_URL, without a key, and reads tool calls and usage", async () => {
    const { url, requests } = await openAiServer();
    vi.stubEnv("OPENAI_BASE_URL", url);
    const model = await resolveModel("openai:llama3.2:1b");
    const answer = await model.bindTools?.([add]).invoke("1 + 2");
    expect(answer?.tool_calls).toMatchObject([{ id: "c1", name: "add", args: { a: 1, b: 2 } }]);
    expect(answer?.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 3 });
    expect(requests).toMatchObject([
      {
        path: "/v1/chat/completions",
        body: { model: "llama3.2:1b", tools: [{ function: { name: "add" } }] },
      },
    ]);
  });

  test("streams, and sends the key that is set", async () => {
    const { url, requests } = await openAiServer();
    vi.stubEnv("OPENAI_BASE_URL", url);
    vi.stubEnv("OPENAI_API_KEY", "test-key");
    const pieces: string[] = [];
    for await (const chunk of await (await resolveModel("openai:m")).stream("hi")) {
      if (chunk.text !== "") pieces.push(chunk.text);
    }
    expect(pieces).toEqual(["Hel", "lo"]);
    expect(requests[0]?.authorization).toBe("Bearer test-key");
  });

  test("says which key is missing", async () => {
    await expect(resolveModel("openai:gpt-5-mini")).rejects.toThrow(MissingKeyError);
    await expect(resolveModel("openai:gpt-5-mini")).rejects.toThrow(/OPENAI_API_KEY.*OPENAI_BASE_URL/);
  });
});

describe("other names", () => {
  test.each([
    ["anthropic:claude-x", "ANTHROPIC_API_KEY", "anthropic"],
    ["google-genai:gemini-x", "GOOGLE_API_KEY", "google"],
  ])("%s needs its key and then gives a model", async (spec, variable, type) => {
    await expect(resolveModel(spec)).rejects.toThrow(variable);
    vi.stubEnv(variable, "key");
    expect((await resolveModel(spec))._llmType()).toContain(type);
  });

  test("ollama:<model> needs no key", async () => {
    expect((await resolveModel("ollama:llama3.2"))._llmType()).toBe("ollama");
  });

  test("builtin:planner is the model made of rules", async () => {
    expect((await (await resolveModel("builtin:planner")).invoke("calculate 1 + 1")).text).toContain(
      "1 + 1 = 2",
    );
  });

  test("a chat model is given back as it is", async () => {
    const model = new ScriptedModel({ answers: [new AIMessage("x")] });
    expect(await resolveModel(model)).toBe(model);
  });

  test.each(["", "planner", "nobody:model", "builtin:genius", "openai:", "toString:x"])(
    "unknown: %j lists what there is",
    async (spec) => {
      const error = await resolveModel(spec).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UnknownModelError);
      expect((error as Error).message).toMatch(
        /builtin:planner.*openai:.*anthropic:.*ollama:.*google-genai:/,
      );
    },
  );

  test("a package that is not installed is named with the command that installs it", async () => {
    const provider = {
      packageName: "@langchain/not-there",
      load: async () => {
        const name = "@langchain/not-there";
        return (await import(/* @vite-ignore */ name)) as never;
      },
    };
    const error = await loadFromProvider("cloud", provider, "m").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MissingProviderError);
    expect((error as Error).message).toContain("npm install @langchain/not-there");
  });
});

describe("the name that is recorded", () => {
  test("is the text, or what the model calls itself", async () => {
    expect(modelNameOf("openai:gpt-5-mini")).toBe("openai:gpt-5-mini");
    vi.stubEnv("OPENAI_API_KEY", "k");
    expect(modelNameOf(await resolveModel("openai:gpt-5-mini"))).toBe("gpt-5-mini");
    expect(modelNameOf(await resolveModel("builtin:planner"))).toBe("builtin:planner");
    expect(modelNameOf(new ScriptedModel({ answers: [new AIMessage("x")], name: "Scripted" }))).toBe(
      "Scripted",
    );
  });
});
