import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { rerunThread } from "../../actors/rerun/rerun-thread.ts";
import { threadStream } from "../../events/envelope.ts";
import { openExport } from "../../projections/open-export.ts";
import { refold } from "../../projections/refold.ts";
import { histories } from "./history-agents.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const releases = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe.each(releases)("histories of %s", (release) => {
  test("there is one of each kind", () => {
    const files = readdirSync(join(folder, release)).map((name) => name.replace(/\.ndjson$/, ""));
    expect(files.sort()).toEqual(histories.map(({ name }) => name).sort());
  });

  test.each(histories)(
    "$name refolds to the states that were recorded, and its runs emit the same events again",
    async (history) => {
      const source = await openExport(join(folder, release, `${history.name}.ndjson`));
      let runs = 0;
      for (const threadId of source.threadIds) {
        const agentFor = (store: typeof source) => createAgent({ ...history.agent(), store });
        const agent = agentFor(source);
        const stream = threadStream(threadId);
        const { version } = await source.log.head(stream);
        const refolded = await refold(source.log, agent, stream, version);
        expect(refolded.divergence).toBeUndefined();
        expect(refolded.checked).toBeGreaterThan(0);
        const rerun = await rerunThread(source, threadId, (store) =>
          createAgent({ ...history.agent(), store }),
        );
        expect(rerun.divergence).toBeUndefined();
        runs += rerun.runs.length;
        await agent.close();
      }
      expect(runs).toBeGreaterThan(0);
      await source.close();
    },
  );
});
