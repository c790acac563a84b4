import type { BaseMessage } from "@langchain/core/messages";
import type { Message } from "../../events/message.ts";
import { sharedPrefix } from "../../reducers/message-lineage.ts";
import {
  AIMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "../langchain.ts";
import { deepFreeze } from "./deep-freeze.ts";

/** A message in state has a type that LangChain has no class for. */
export class UnknownMessageTypeError extends Error {
  override readonly name = "UnknownMessageTypeError";
  constructor(readonly type: string) {
    super(
      `A message has the type "${type}". LangChain knows human, ai, system, tool, function, generic and remove; mend the message that has it.`,
    );
  }
}

const instances = new WeakMap<Message, BaseMessage>();
// On our own instances a property, which costs the garbage collector less than an entry in a weak map.
const storedForm = Symbol("threadfold.stored-form");
const foreignForms = new WeakMap<BaseMessage, Message>();

/** The stored form that an instance came from or was turned into before. */
export function knownStoredForm(instance: BaseMessage): Message | undefined {
  return (instance as { [storedForm]?: Message })[storedForm] ?? foreignForms.get(instance);
}

/** Remembers that the two are one message. */
export function pair(stored: Message, instance: BaseMessage): void {
  foreignForms.set(instance, stored);
}

/**
 * LangChain's class for a stored message, frozen all the way down: hooks may keep it but not change it. The same
 * message gives the same instance.
 *
 * @throws {UnknownMessageTypeError}
 * @example
 * toLangChain({ id: "1", type: "human", content: "hello" }).text; // "hello"
 */
export function toLangChain(message: Message): BaseMessage {
  const known = instances.get(message);
  if (known) return known;
  deepFreeze(message);
  const instance = construct(message);
  Object.defineProperty(instance, storedForm, { value: message });
  freezeInstance(instance);
  instances.set(message, instance);
  return instance;
}

function construct(message: Message): BaseMessage {
  const { type, ...rest } = message;
  // LangChain's constructors fill in and extend what they are given.
  const fields: Record<string, unknown> = { ...rest };
  if (Array.isArray(rest.content)) fields.content = [...rest.content];
  for (const key of ["name", "usage_metadata"]) if (fields[key] === null) delete fields[key];
  switch (type) {
    case "human":
      return new HumanMessage(fields);
    case "ai":
      if (fields.tool_calls === undefined && !hasRawToolCalls(message)) fields.tool_calls = [];
      return new AIMessage(fields);
    case "system":
      return new SystemMessage(fields);
    case "tool":
      return new ToolMessage(fields as unknown as ConstructorParameters<typeof ToolMessage>[0]);
    case "function":
      return new FunctionMessage({ ...fields, name: message.name ?? "" } as never);
    case "generic":
      return new ChatMessage({ ...fields, role: String(message.role ?? "user") } as never);
    case "remove":
      return new RemoveMessage({ id: message.id });
    default:
      throw new UnknownMessageTypeError(type);
  }
}

function hasRawToolCalls(message: Message): boolean {
  return message.additional_kwargs?.tool_calls !== undefined;
}

function freezeInstance(instance: BaseMessage): void {
  for (const key of Object.keys(instance)) deepFreeze((instance as unknown as Record<string, unknown>)[key]);
  Object.freeze(instance);
}

interface ConvertedList {
  readonly messages: readonly Message[];
  readonly instances: readonly BaseMessage[];
  /** The same, to be extended: copies of a frozen list take fifty times as long. */
  readonly growing: BaseMessage[];
}

// Every list of one thread begins with the same message, so its first message finds the list that was converted last.
const lastLists = new WeakMap<Message, ConvertedList>();
const none: readonly BaseMessage[] = Object.freeze([]);

/**
 * LangChain's classes for a list of stored messages, as a frozen list. A list that goes on from the one converted
 * before costs its new messages and a copy of pointers.
 *
 * @throws {UnknownMessageTypeError}
 */
export function toLangChainList(messages: readonly Message[]): readonly BaseMessage[] {
  const first = messages[0];
  if (first === undefined) return none;
  const before = lastLists.get(first);
  if (before?.messages === messages) return before.instances;
  let shared = 0;
  if (before) {
    const end = Math.min(before.messages.length, messages.length);
    shared = sharedPrefix(before.messages, messages);
    while (shared < end && before.messages[shared] === messages[shared]) shared += 1;
  }
  const added: BaseMessage[] = [];
  for (let index = shared; index < messages.length; index++) {
    added.push(toLangChain(messages[index] as Message));
  }
  const growing = before?.growing ?? [];
  growing.length = shared;
  for (const instance of added) growing.push(instance);
  const instances = Object.freeze(growing.slice());
  lastLists.set(first, { messages, instances, growing });
  return instances;
}
