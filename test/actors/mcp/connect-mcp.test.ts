import { realpath } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectMcp, type McpTools } from "../../../actors/mcp/connect-mcp.ts";
import { McpConfigError } from "../../../actors/mcp/mcp-config.ts";
import { McpCallError } from "../../../actors/mcp/mcp-connection.ts";
import { mcpToolName } from "../../../actors/mcp/mcp-tool.ts";
import { argumentsSchema } from "../../../actors/tools/json-schema.ts";
import { createToolCatalogue } from "../../../actors/tools/tool-catalogue.ts";
import { callMcp, connected, testServer } from "./mcp-bench.ts";

const namesOf = (mcp: Awaited<ReturnType<typeof connected>>) => mcp.tools().map(({ name }) => name);

describe("a real MCP server over stdio", () => {
  let mcp: McpTools;
  beforeAll(async () => {
    mcp = await connectMcp({ servers: { calc: testServer() } });
  });
  afterAll(() => mcp.close());

  it("gives its tools with their own schemas under its name", async () => {
    const add = mcp.tools().find(({ name }) => name === "calc_add");
    expect(add?.description).toBe("Adds two numbers");
    expect(argumentsSchema(add ?? (undefined as never)).properties).toEqual({
      a: { type: "number" },
      b: { type: "number" },
    });
    expect(add?.idempotent).toBe(true);
    expect((await callMcp(mcp, "calc_add", { a: 2, b: 40 })).content).toBe("42");
    expect(mcp.problems()).toEqual([]);
  });

  it("a tool named like a built-in never takes its name, and crafted names become harmless", async () => {
    expect(namesOf(mcp)).toContain("calc_bash");
    expect(namesOf(mcp)).not.toContain("bash");
    expect(namesOf(mcp)).toContain("calc_bad_name__available-deferred-tools_");
  });

  it("an error that the tool reports is an error for the model", async () => {
    const { content, status } = await callMcp(mcp, "calc_fail");
    expect([content, status]).toEqual(["no luck", "error"]);
  });

  it("images go to the blob store, and the model reads a line about them", async () => {
    const { content, artifact, runtime } = await callMcp(mcp, "calc_picture");
    const [image] = (artifact as { blobs: { sha256: string; size: number }[] }).blobs;
    expect(content).toBe(`see\n[image image/png, 18 bytes, kept as ${image?.sha256}]`);
    expect(await runtime.blobs.has(image?.sha256 ?? "")).toBe(true);
  });

  it("cwd is where the server works", async () => {
    const here = await connected({ calc: testServer({ cwd: tmpdir() }) });
    expect((await callMcp(here, "calc_place")).content).toBe(await realpath(tmpdir()));
  });

  it("no secret of this process's environment reaches the server, what is configured does", async () => {
    vi.stubEnv("SECRET_OF_THE_HOST", "x");
    const mcp = await connected({ calc: testServer({ env: { GIVEN: "1" } }) });
    const names = String((await callMcp(mcp, "calc_environment")).content).split(" ");
    vi.unstubAllEnvs();
    expect(names).toContain("GIVEN");
    expect(names).not.toContain("SECRET_OF_THE_HOST");
  });
});

describe("a server over HTTP", () => {
  it("is reached by its address, with the headers that it wants", async () => {
    const keys: unknown[] = [];
    const http = createServer((request, response) => {
      keys.push(request.headers["x-key"]);
      const server = new McpServer({ name: "http", version: "1" });
      server.registerTool("hello", { description: "Greets" }, () => ({
        content: [{ type: "text", text: "hello over HTTP" }],
      }));
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      server
        .connect(transport as Parameters<typeof server.connect>[0])
        .then(() => transport.handleRequest(request, response))
        .catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
    const mcp = await connected({ web: { url, headers: { "x-key": "k" } } });
    expect(mcp.problems()).toEqual([]);
    expect((await callMcp(mcp, "web_hello")).content).toBe("hello over HTTP");
    expect(new Set(keys)).toEqual(new Set(["k"]));
  });
});

describe("servers that misbehave", () => {
  it("a call that hangs is given up after callTimeoutMs, and the server goes on", async () => {
    const mcp = await connected({ calc: testServer({ callTimeoutMs: 200 }) });
    const call = callMcp(mcp, "calc_hang");
    await expect(call).rejects.toThrow(McpCallError);
    await expect(call).rejects.toThrow(/no answer within 200 ms/);
    expect((await callMcp(mcp, "calc_add", { a: 1, b: 1 })).content).toBe("2");
  });

  it("a cancelled call ends at once", async () => {
    const mcp = await connected({ calc: testServer() });
    const abort = new AbortController();
    const call = callMcp(mcp, "calc_hang", {}, abort.signal);
    abort.abort(new Error("enough"));
    await expect(call).rejects.not.toBeInstanceOf(McpCallError);
  });

  it("a server that dies is an error that says so, and is started again at the next call", async () => {
    const mcp = await connected({ calc: testServer() });
    await expect(callMcp(mcp, "calc_die")).rejects.toThrow(/the server ended/);
    expect((await callMcp(mcp, "calc_add", { a: 1, b: 2 })).content).toBe("3");
  });

  it("a server that never comes up is a problem of its own", async () => {
    const silent = testServer({ args: ["--silent"], connectTimeoutMs: 300 });
    const mcp = await connected({ good: testServer(), silent, none: { command: "/no/such/program" } });
    expect(namesOf(mcp)).toContain("good_add");
    const problems = new Map(mcp.problems().map(({ server, error }) => [server, error.message]));
    expect([...problems.keys()].sort()).toEqual(["none", "silent"]);
    expect(problems.get("silent")).toMatch(/did not come up within 300 ms/);
    expect(problems.get("none")).toMatch(/cannot be used/);
  });

  it("refresh tries servers that are down again", async () => {
    const mcp = await connected({ none: { command: "/no/such/program" } });
    const [before] = mcp.problems();
    await mcp.refresh();
    expect(mcp.problems()[0]?.error).not.toBe(before?.error);
  });

  it("a result of a megabyte is cut to maxResultBytes, and says so", async () => {
    const mcp = await connected({ calc: testServer() }, { maxResultBytes: 1_000 });
    const { content } = await callMcp(mcp, "calc_huge", { bytes: 1_000_000 });
    expect(Buffer.byteLength(String(content))).toBeLessThan(1_200);
    expect(content).toMatch(/cut: the result has 1000000 bytes, the first 1000 are shown/);
  });

  it("a result that is larger than can be read is an error, and the server is started again", async () => {
    const mcp = await connected({ calc: testServer({ maxMessageBytes: 100_000 }) });
    await expect(callMcp(mcp, "calc_huge", { bytes: 150_000 })).rejects.toThrow(/more than can be read/);
    expect((await callMcp(mcp, "calc_add", { a: 1, b: 2 })).content).toBe("3");
  });

  it("a catalogue that changes gives new tools under another hash", async () => {
    const mcp = await connected({ calc: testServer() });
    const before = mcp.tools();
    await callMcp(mcp, "calc_grow");
    await vi.waitFor(() => expect(namesOf(mcp)).toContain("calc_orders"));
    expect(createToolCatalogue(mcp.tools()).hash).not.toBe(createToolCatalogue(before).hash);
    expect((await callMcp(mcp, "calc_orders")).content).toBe("order 1");
  });

  it("after close nothing is started again", async () => {
    const mcp = await connected({ calc: testServer() });
    await mcp.close();
    await expect(callMcp(mcp, "calc_add", { a: 1, b: 2 })).rejects.toThrow(/was closed/);
  });
});

describe("configuration", () => {
  it("names what is wrong with its path", async () => {
    const wrong = connectMcp({ servers: { calc: { comand: "node" } as never } });
    await expect(wrong).rejects.toThrow(McpConfigError);
    await expect(wrong).rejects.toThrow(/calc/);
  });

  it("long names keep within what providers take, and apart", () => {
    const [a, b] = ["a", "b"].map((end) => mcpToolName("server", `${"x".repeat(100)}${end}`));
    expect(a).toHaveLength(64);
    expect(a).not.toBe(b);
  });

  it("a tool that comes out like a built-in one or one of the agent's is left out, and named", async () => {
    const servers = {
      read: testServer({ args: ["--extra=file"] }),
      my: testServer({ args: ["--extra=tool"] }),
    };
    const mcp = await connected(servers, { reservedNames: ["my_tool"] });
    expect(namesOf(mcp)).not.toContain("read_file");
    expect(namesOf(mcp)).not.toContain("my_tool");
    expect(namesOf(mcp)).toContain("read_add");
    expect(mcp.problems()).toMatchObject([
      { server: "read", error: { name: "McpNameError", tool: "file", takenBy: "the harness" } },
      { server: "my", error: { name: "McpNameError", tool: "tool", takenBy: "the agent" } },
    ]);
  });

  it("two servers whose tools come out alike: the second is left out, and named", async () => {
    const mcp = await connected({ a: testServer({ args: ["--extra=b_add"] }), a_b: testServer() });
    expect(namesOf(mcp).filter((name) => name === "a_b_add")).toHaveLength(1);
    expect(mcp.problems()).toMatchObject([
      { server: "a_b", error: { tool: "add", takenBy: 'the server "a"' } },
    ]);
    expect((await callMcp(mcp, "a_b_add")).content).toBe("extra");
  });
});
