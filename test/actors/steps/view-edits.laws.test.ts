import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type EditOrigins,
  editsBetween,
  editsToReach,
  recordEdits,
} from "../../../actors/steps/view-edits.ts";
import type { Message } from "../../../events/message.ts";
import { viewEditSchema } from "../../../events/model.ts";
import { hashMessages } from "../../../projections/request-hash.ts";
import { type EditsInForce, foldEdits, noEdits, showMessages } from "../../../projections/request-view.ts";

type Messages = readonly Message[];

const message = fc.record({
  id: fc.constantFrom("1", "2", "3", "4", "5", "6", "7", "8"),
  type: fc.constantFrom("human", "ai"),
  content: fc.constantFrom("a", "b"),
});
const withUniqueIds = fc.uniqueArray(message, { selector: ({ id }) => id, maxLength: 8 });
const anyMessages = fc.array(message, { maxLength: 8 });
const origins: EditOrigins = {
  broughtBy: ({ content }) => `middleware:${content}`,
  hiddenBy: ({ id }) => `middleware:${id}`,
};

const shown = (base: Messages, edits: EditsInForce): Messages =>
  showMessages(base, edits).map((one) => one.message);
const unique = (list: Messages) => () => new Set(list.map(({ id }) => id)).size === list.length;
const between = (base: Messages, request: Messages) => editsBetween(base, request, origins, unique(base));

/** A thread whose list and whose requests change at will from call to call. */
const calls = fc.array(fc.tuple(fc.oneof(withUniqueIds, anyMessages), anyMessages), { maxLength: 6 });

describe("edits", () => {
  test("make every request out of every list", () => {
    fc.assert(
      fc.property(anyMessages, anyMessages, (base, request) => {
        expect(shown(base, between(base, request))).toEqual(request);
      }),
    );
  });

  test("are none when nothing was edited", () => {
    fc.assert(
      fc.property(withUniqueIds, (base) => {
        expect(editsToReach(noEdits, between(base, [...base]))).toEqual([]);
      }),
    );
  });

  test("keep as many messages in place as stand in order", () => {
    fc.assert(
      fc.property(withUniqueIds, fc.nat(), fc.nat(), (base, from, to) => {
        fc.pre(base.length > 1);
        const request: Message[] = [...base];
        const [moved] = request.splice(from % base.length, 1) as [Message];
        request.splice(to % base.length, 0, moved);
        const edits = between(base, request);
        expect(edits.hidden.size).toBeLessThanOrEqual(1);
        expect(edits.insertions.size).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("that were recorded from call to call lead to each request, and so does each of them from its own beginning", () => {
    fc.assert(
      fc.property(calls, (steps) => {
        let inForce: EditsInForce | undefined;
        let replayed = noEdits;
        for (const [base, request] of steps) {
          const recorded = recordEdits(inForce, between(base, request));
          inForce = recorded.inForce;
          const stored = JSON.parse(JSON.stringify(recorded.edits)).map((edit: unknown) =>
            viewEditSchema().parse(edit),
          );
          replayed = foldEdits(recorded.continues ? replayed : noEdits, stored);
          expect(shown(base, inForce)).toEqual(request);
          expect(shown(base, replayed)).toEqual(request);
        }
      }),
    );
  });

  test("that stay the same are not recorded again", () => {
    fc.assert(
      fc.property(withUniqueIds, anyMessages, (base, request) => {
        const first = recordEdits(undefined, between(base, request));
        const again = recordEdits(first.inForce, between(base, request));
        expect(again.edits).toEqual([]);
      }),
    );
  });
});

test("the digest of a list does not depend on the lists that were hashed before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(message, { maxLength: 60 }), { minLength: 1, maxLength: 5 }),
      fc.nat(60),
      (lists, shared) => {
        let before: ReturnType<typeof hashMessages> | undefined;
        const head = (lists[0] ?? []).slice(0, shared);
        for (const tail of lists) {
          const list = [...head, ...tail];
          before = hashMessages(list, before);
          expect(before.digest).toBe(
            hashMessages(
              list.map((one) => ({ ...one })),
              undefined,
            ).digest,
          );
        }
      },
    ),
  );
});
