import { openBare, openPrototype } from "./bare.ts";
import { openLangGraph } from "./langgraph.ts";
import type { Side, SideOptions } from "./side.ts";
import { openThreadfold } from "./threadfold.ts";

export const sideNames = {
  "threadfold-full": "Threadfold, synchronous=FULL (default)",
  "threadfold-normal": "Threadfold, synchronous=NORMAL",
  "langgraph-sqlite": "LangGraph, SqliteSaver (default)",
  "langgraph-sqlite-exit": "LangGraph, SqliteSaver, durability exit",
  "langgraph-postgres": "LangGraph, PostgresSaver",
  bare: "bare append-only table, FULL, no model",
  prototype: "append-only prototype, FULL",
} as const;

export type SideName = keyof typeof sideNames;

/** Opens a product by name; PostgreSQL is that of BENCH_POSTGRES_URL. */
export function openSide(name: SideName, options: SideOptions): Promise<Side> {
  switch (name) {
    case "threadfold-full":
      return openThreadfold(options, "full");
    case "threadfold-normal":
      return openThreadfold(options, "normal");
    case "langgraph-sqlite":
      return openLangGraph({ ...options, durability: "async" });
    case "langgraph-sqlite-exit":
      return openLangGraph({ ...options, durability: "exit" });
    case "langgraph-postgres":
      return openLangGraph({ ...options, durability: "async", postgresUrl: process.env.BENCH_POSTGRES_URL });
    case "bare":
      return openBare(options);
    case "prototype":
      return openPrototype(options);
  }
}
