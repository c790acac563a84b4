import Table from "cli-table3";
import { abortInTool } from "./claims/abort-in-tool.ts";
import { approvalUnderRetry } from "./claims/approval-under-retry.ts";
import { approveAndReject } from "./claims/approve-and-reject.ts";
import { callLimit } from "./claims/call-limit.ts";
import { type Claim, errorLine } from "./claims/claim.ts";
import { forkAndContinue } from "./claims/fork-and-continue.ts";
import { idleMiddleware } from "./claims/idle-middleware.ts";
import { killInTool } from "./claims/kill-in-tool.ts";
import { replay } from "./claims/replay.ts";
import { twoInputs } from "./claims/two-inputs.ts";
import { twoToolsOneKey } from "./claims/two-tools-one-key.ts";

/*
 * Ten situations, brought about with both products; the table says what came out. Nothing is expected here: what
 * Threadfold promises is tested under `test/`. With an argument only the situations that contain it.
 */
const claims: readonly Claim[] = [
  forkAndContinue,
  killInTool,
  twoInputs,
  abortInTool,
  twoToolsOneKey,
  approveAndReject,
  approvalUnderRetry,
  callLimit,
  replay,
  idleMiddleware,
];

const columnWidths = [34, 58, 58];
const table = new Table({
  style: { head: [], border: [] },
  head: ["situation", "Threadfold", "LangGraph.js"],
  colWidths: columnWidths,
  wordWrap: true,
});
const only = process.argv[2];
for (const { situation, ours, theirs } of claims.filter((one) => !only || one.situation.includes(only))) {
  const [own, other] = [await ours().catch(errorLine), await theirs().catch(errorLine)];
  table.push([situation, own, other]);
}
console.log(table.toString());
