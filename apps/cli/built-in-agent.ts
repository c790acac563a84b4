import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { artifactsMiddleware } from "../../actors/middleware/artifacts.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { sandboxMiddleware } from "../../actors/middleware/sandbox.ts";
import { threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { todosMiddleware } from "../../actors/middleware/todos.ts";
import { uploadsMiddleware } from "../../actors/middleware/uploads.ts";
import { fileTools } from "../../actors/tools/file-tools.ts";
import type { Store } from "../../events/store.ts";

/** The agent of `threadfold run`: files and a shell in the thread's own folders, uploads, artifacts, todos, a title. */
export function createBuiltInAgent(options: {
  readonly store: Store;
  readonly model: string;
  readonly limits: NonNullable<AgentOptions["limits"]>;
  /** `ask`: commands of the shell wait for a human. */
  readonly approve: "ask" | "all" | "none";
}): Agent {
  const { store, model, limits, approve } = options;
  return createAgent({
    name: "threadfold",
    model,
    store,
    limits,
    tools: fileTools(),
    middleware: [
      threadDataMiddleware(),
      uploadsMiddleware(),
      sandboxMiddleware(),
      artifactsMiddleware(),
      todosMiddleware(),
      titleMiddleware(),
      ...(approve === "all" ? [] : [humanApprovalMiddleware({ interruptOn: { bash: true } })]),
    ],
  });
}
