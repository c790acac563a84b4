import { expect, test } from "vitest";
import type { RecordedEvent } from "../../events/envelope.ts";
import { csvLine } from "../../projections/select-events.ts";

const event = (by: RecordedEvent["metadata"]["by"], text: string): RecordedEvent => ({
  id: "e1",
  type: "TitleSet",
  data: { title: text },
  stream: "thread-t",
  version: 3,
  position: "3",
  recordedAt: "2026-01-01T00:00:00.000Z",
  metadata: { schema: 1, by, causationId: "c1", correlationId: "r1", hash: "h", previousHash: "p", step: 2 },
});

test("quotes, commas and line breaks stay one cell", () => {
  expect(csvLine(event("user", 'a "b",\nc'))).toBe(
    't,3,2026-01-01T00:00:00.000Z,TitleSet,user,,2,e1,c1,h,"{""title"":""a \\""b\\"",\\nc""}"',
  );
});

test("a text that a spreadsheet would take for a formula is marked as text", () => {
  expect(csvLine({ ...event("user", "x"), type: "=1+1" })).toContain(",'=1+1,");
});
