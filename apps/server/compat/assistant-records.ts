import { v5 as uuidv5, v7 as uuidv7 } from "uuid";
import type { Json } from "../../../events/json.ts";
import type { EventLog } from "../../../events/log/event-log.ts";

/** An assistant as clients see it. */
export interface Assistant {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly version: number;
  readonly config: { readonly [key: string]: Json };
  readonly context: { readonly [key: string]: Json };
  readonly metadata: { readonly [key: string]: Json };
  readonly created_at: string;
  readonly updated_at: string;
}

/** LangGraph's name space for the default assistants of graphs. */
const graphNamespace = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

/** The id of a graph's default assistant. */
export function defaultAssistantId(graphId: string): string {
  return uuidv5(graphId, graphNamespace);
}

/** The assistants of a server: one for each graph, and those that clients saved. */
export interface Assistants {
  all(): Promise<readonly Assistant[]>;
  /** By id, or by the name of a graph. */
  find(idOrGraph: string): Promise<Assistant | undefined>;
  versions(id: string): Promise<readonly Assistant[]>;
  save(assistant: Assistant): Promise<Assistant>;
  remove(id: string): Promise<void>;
}

const stream = "assistants";

/**
 * Opens the assistants. What clients save is recorded in a stream of its own, so every process of a store sees it.
 *
 * @param graphs names of the graphs that are served
 */
export function openAssistants(log: EventLog, graphs: readonly string[]): Assistants {
  const startedAt = new Date().toISOString();
  const history = new Map<string, Assistant[]>();
  const removed = new Set<string>();
  let read = 0;

  for (const graph of graphs) {
    const id = defaultAssistantId(graph);
    const own: Assistant = {
      assistant_id: id,
      graph_id: graph,
      name: graph,
      description: null,
      version: 1,
      config: {},
      context: {},
      metadata: { created_by: "system" },
      created_at: startedAt,
      updated_at: startedAt,
    };
    history.set(id, [own]);
  }

  const catchUp = async () => {
    for await (const page of log.read(stream, { from: read + 1 })) {
      for (const { type, data, version } of page) {
        if (version <= read) continue;
        read = version;
        const { assistant, assistantId } = data as unknown as { assistant: Assistant; assistantId: string };
        if (type === "AssistantSaved") {
          const id = assistant.assistant_id;
          removed.delete(id);
          history.set(id, [...(history.get(id) ?? []), assistant]);
        } else removed.add(assistantId);
      }
    }
  };
  const current = (id: string) => (removed.has(id) ? undefined : history.get(id)?.at(-1));
  const record = async (type: string, data: unknown) => {
    const id = uuidv7();
    const metadata = { schema: 1, by: "client" as const, causationId: id, correlationId: id };
    const event = { id, type, data: data as Json, recordedAt: new Date().toISOString(), metadata };
    await log.append(stream, [event], { expectedVersion: "any" });
    await catchUp();
  };

  return {
    async all() {
      await catchUp();
      return [...history.keys()].flatMap((id) => current(id) ?? []);
    },
    async find(idOrGraph) {
      await catchUp();
      return (
        current(idOrGraph) ??
        (graphs.includes(idOrGraph) ? current(defaultAssistantId(idOrGraph)) : undefined)
      );
    },
    async versions(id) {
      await catchUp();
      return current(id) ? (history.get(id) ?? []).toReversed() : [];
    },
    async save(assistant) {
      await record("AssistantSaved", { assistant });
      return assistant;
    },
    remove: (assistantId) => record("AssistantRemoved", { assistantId }),
  };
}
