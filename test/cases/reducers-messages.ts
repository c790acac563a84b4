import type { ReducerCase } from "./reducer-case.ts";

const human = (id: string, content: string) => ({ type: "human", id, content });
const ai = (id: string, content: string) => ({ type: "ai", id, content });
const remove = (id: string) => ({ type: "remove", id });
const one = human("1", "a");
const two = ai("2", "b");

export const messageCases: readonly ReducerCase[] = [
  {
    id: "RED-MSG-01",
    title: "a new message is appended",
    field: "messages",
    before: [one],
    update: [two],
    after: [one, two],
  },
  {
    id: "RED-MSG-02",
    title: "the same id replaces in place",
    field: "messages",
    before: [one, two],
    update: [human("1", "a2")],
    after: [human("1", "a2"), two],
  },
  {
    id: "RED-MSG-04",
    title: "a removal by id",
    field: "messages",
    before: [one, two],
    update: [remove("1")],
    after: [two],
  },
  {
    id: "RED-MSG-06",
    title: "the marker removes all",
    field: "messages",
    before: [one, two],
    update: [remove("__remove_all__")],
    after: [],
  },
  {
    id: "RED-MSG-11",
    title: "replace, then remove: removed",
    field: "messages",
    before: [one],
    update: [human("1", "b"), remove("1")],
    after: [],
  },
  {
    id: "RED-MSG-12",
    title: "a message of the same update may be removed",
    field: "messages",
    before: [one],
    update: [human("2", "b"), remove("2")],
    after: [one],
  },
  {
    id: "RED-MSG-13",
    title: "an id twice in one update: the last wins",
    field: "messages",
    before: [],
    update: [human("1", "a"), human("1", "b")],
    after: [human("1", "b")],
  },
  {
    id: "RED-MSG-14",
    title: "of a stored double the last place is replaced",
    field: "messages",
    before: [human("1", "a"), human("1", "b")],
    update: [human("1", "c")],
    after: [human("1", "a"), human("1", "c")],
  },
  {
    id: "RED-MSG-15",
    title: "a removal takes every copy of a stored double",
    field: "messages",
    before: [human("1", "a"), human("1", "b")],
    update: [remove("1")],
    after: [],
  },
  {
    id: "RED-MSG-18",
    title: "null is an error, not a no-op",
    field: "messages",
    before: [one],
    update: null,
    error: "EmptyMessagesUpdateError",
  },
  {
    id: "RED-MSG-19",
    title: "a stray removal after the marker is refused",
    field: "messages",
    before: [one],
    update: [remove("__remove_all__"), remove("zz")],
    error: "UnknownMessageError",
  },
  {
    id: "RED-MSG-20",
    title: "role and content become a message",
    field: "messages",
    before: [],
    update: { role: "user", content: "hi", id: "d1" },
    after: [human("d1", "hi")],
  },
  {
    id: "RED-MSG-23",
    title: "an unknown role is refused",
    field: "messages",
    before: [],
    update: [{ role: "bogus", content: "hi", id: "x" }],
    error: "NotAMessageError",
  },
  {
    id: "RED-MSG-25",
    title: "removed in one event, added in a later one",
    field: "messages",
    before: [human("same", "old")],
    events: [
      { type: "MessagesRemoved", data: { ids: ["same"] } },
      { type: "MessagesAdded", data: { messages: [ai("same", "later")] } },
    ],
    after: [ai("same", "later")],
  },
];
