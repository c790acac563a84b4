import { z } from "zod";
import type { Agent } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { harnessMiddleware } from "../../actors/harness.ts";
import type { Middleware } from "../../actors/middleware/define-middleware.ts";
import { threadStream } from "../../events/envelope.ts";
import type { Store } from "../../events/store.ts";

/**
 * An agent that reads threads of others: it folds what Threadfold knows, takes other fields as they were set last, and
 * answers nobody.
 *
 * @param options.middleware whose events and fields it should know, too
 */
export async function readerAgent(
  store: Store,
  threadIds: readonly string[],
  options: { readonly middleware?: readonly Middleware[] | undefined } = {},
): Promise<Agent> {
  const known = new Set(harnessMiddleware().map(({ name }) => name));
  const middleware = (options.middleware ?? []).filter(({ name }) => !known.has(name));
  const make = (own: readonly Middleware[], fields: readonly string[]) =>
    createAgent({
      model: "builtin:planner",
      store,
      preset: "harness",
      middleware: own,
      ...(fields.length > 0 && {
        stateSchema: z.object(Object.fromEntries(fields.map((field) => [field, z.unknown()]))),
      }),
    });
  const withFields = async (own: readonly Middleware[]) => {
    const agent = make(own, []);
    const further = [...(await updatedFields(store, threadIds))].filter(
      (field) => !agent.reducer.definitions.has(field),
    );
    if (further.length === 0) return agent;
    await agent.close();
    return make(own, further);
  };
  try {
    return await withFields(middleware);
  } catch {
    // Parts that do not go together with the harness are left out: the threads may have nothing of them.
    return withFields([]);
  }
}

/** Fields that were set without an event of their own. */
async function updatedFields({ log }: Store, threadIds: readonly string[]): Promise<ReadonlySet<string>> {
  const fields = new Set<string>();
  for (const threadId of threadIds) {
    for await (const page of log.read(threadStream(threadId), { types: ["StateUpdated"] })) {
      for (const { data } of page) {
        const { field } = data as { readonly field?: unknown };
        if (typeof field === "string") fields.add(field);
      }
    }
  }
  return fields;
}
