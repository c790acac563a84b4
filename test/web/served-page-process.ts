import { createAgent } from "../../actors/create-agent.ts";
import { startServer } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";

/** A server with the page in a process of its own, which can be killed. */
const [path, port, pageFolder] = process.argv.slice(2);
const store = await openStore(`sqlite:${path}`);
const agent = createAgent({ model: "builtin:planner", store });
const server = await startServer({
  agents: { agent },
  store,
  port: Number(port),
  ...(pageFolder && { pageFolder }),
});
process.send?.(server.url);
