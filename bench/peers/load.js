// Imports of this file find the packages of this folder, which `npm run bench:install` puts there.
export { BaseChatModel } from "@langchain/core/language_models/chat_models";
export { AIMessage } from "@langchain/core/messages";
export * as langgraph from "@langchain/langgraph";
export * as checkpoint from "@langchain/langgraph-checkpoint";
export * as postgres from "@langchain/langgraph-checkpoint-postgres";
export * as sqlite from "@langchain/langgraph-checkpoint-sqlite";
export * as langchain from "langchain";
