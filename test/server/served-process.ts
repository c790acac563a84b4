import { createAgent } from "../../actors/create-agent.ts";
import { startServer } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";

/** A server of its own process, on a file, whose agent calls a tool five times. */
const [path, port, latencyMs] = process.argv.slice(2);
const store = await openStore(`sqlite:${path}`);
const steps = Array.from({ length: 5 }, (_, index) =>
  callsTools(["add", { a: index, b: 1 }, `call-${index}`]),
);
const model = new ScriptedModel({
  // By what the thread holds: after a restart it goes on where it was.
  answers: (messages) =>
    steps[messages.filter((message) => message.getType() === "tool").length] ?? "All counted.",
  latencyMs: Number(latencyMs),
});
const agent = createAgent({ model, store, tools: [add], recovery: "continue", leaseMs: 300 });
const server = await startServer({ agents: { agent }, store, port: Number(port), graceMs: 0, leaseMs: 400 });
process.send?.(server.url);
process.once("SIGTERM", async () => {
  await server.stop();
  await agent.close();
  await store.close();
  process.exit(0);
});
