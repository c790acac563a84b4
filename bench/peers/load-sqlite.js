// What a program with the SQLite saver loads, and no more: cold starts are measured with it.
export { BaseChatModel } from "@langchain/core/language_models/chat_models";
export * as sqlite from "@langchain/langgraph-checkpoint-sqlite";
export * as langchain from "langchain";
