import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../events/message.ts";
import { MessagesAdded, MessagesReplaced } from "../../events/messages.ts";
import { createStateHasher, stateHash } from "../../projections/state-hash.ts";
import { sameJson } from "../../reducers/same-json.ts";
import type { State } from "../../reducers/thread-state.ts";
import { anyLog, reducer } from "../reducers/arbitrary-log.ts";

const human = (id: string, content: string): Message => ({ id, type: "human", content });

/** Messages that count how often their content is read. */
function watched(count: number, onRead: () => void): Message[] {
  return Array.from({ length: count }, (_, n) => {
    return Object.defineProperty(human(`m${n}`, ""), "content", {
      enumerable: true,
      get: () => {
        onRead();
        return "x";
      },
    });
  });
}

describe("the hash of a state", () => {
  test("follows from the content alone, in whatever order the keys stand", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const hasher = createStateHasher();
        let state = reducer.initial;
        for (const event of events) {
          state = reducer.apply(state, event);
          const foreign = JSON.parse(JSON.stringify(state)) as State;
          const turned = Object.fromEntries(Object.entries(foreign).reverse());
          expect(hasher.hash(state)).toBe(stateHash(turned));
        }
      }),
      { numRuns: 50 },
    );
  });

  test("differs between states that differ", () => {
    fc.assert(
      fc.property(anyLog, anyLog, (left, right) => {
        const [a, b] = [reducer.fold(left), reducer.fold(right)];
        if (sameJson(a, b)) expect(stateHash(a)).toBe(stateHash(b));
        else expect(stateHash(a)).not.toBe(stateHash(b));
      }),
      { numRuns: 50 },
    );
  });

  test("after an append reads no old message again", () => {
    let reads = 0;
    const hasher = createStateHasher();
    const start = MessagesAdded({ messages: watched(200, () => (reads += 1)) });
    let state = reducer.apply(reducer.initial, { ...start, version: 1 });
    hasher.hash(state);
    reads = 0;
    for (let n = 0; n < 10; n++) {
      state = reducer.apply(state, { ...MessagesAdded({ messages: [human(`n${n}`, "y")] }), version: n + 2 });
      hasher.hash(state);
    }
    expect(reads).toBe(0);
  });

  test("after a replacement reads only the new message", () => {
    let reads = 0;
    const hasher = createStateHasher();
    const start = MessagesAdded({ messages: watched(200, () => (reads += 1)) });
    const state = reducer.apply(reducer.initial, { ...start, version: 1 });
    hasher.hash(state);
    const replaced = MessagesReplaced({ messages: [human("m199", "other")] });
    const after = reducer.apply(state, { ...replaced, version: 2 });
    reads = 0;
    expect(hasher.hash(after)).not.toBe(hasher.hash(state));
    expect(reads).toBe(0);
  });

  test("tells apart a field that is absent and one that is null", () => {
    expect(stateHash({ goal: null })).not.toBe(stateHash({}));
    expect(stateHash({ goal: undefined })).toBe(stateHash({}));
  });
});
