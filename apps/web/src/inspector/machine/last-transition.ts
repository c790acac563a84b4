import { logApi } from "../../api/log-api.ts";
import { placeOfVersion } from "../../thread-view/indexed-events.ts";
import type { ThreadView } from "../../thread-view/open-thread.ts";

/** Where the thread's machine is, and how it came there. */
export interface MachinePlace {
  readonly version: number;
  readonly current: string;
  /** Undefined: it never moved. */
  readonly last: { readonly from: string; readonly version: number; readonly type: string } | undefined;
}

/** Events that can move the machine. */
const moving: ReadonlySet<string> = new Set([
  "RunStarted",
  "RunCompleted",
  "RunFailed",
  "RunCancelled",
  "RunInterrupted",
  "ModelCallStarted",
  "ModelResponded",
  "ToolCallStarted",
  "InterruptResolved",
  "ThreadRewound",
]);
/** Events that are looked at: parallel tool calls move it once. */
const maxTries = 16;

/** Asks where the machine is at a version, and goes back to the event that brought it there. */
export async function readMachine(
  thread: string,
  version: number,
  { events, marks }: Pick<ThreadView, "events" | "marks">,
  signal: AbortSignal,
): Promise<MachinePlace> {
  const { current } = await logApi.machine(thread, version, { signal });
  let tries = 0;
  for (let place = placeOfVersion(events, version + 1) - 1; place >= 0 && tries < maxTries; place--) {
    const event = events[place];
    if (!event || !moving.has(event.type)) continue;
    tries += 1;
    // A rewind goes on from where it went back to, not from the event before it.
    const mark = marks.find(({ kind, version: at }) => kind === "rewound" && at === event.version);
    const from = mark?.kind === "rewound" ? mark.to : event.version - 1;
    const before = await logApi.machine(thread, from, { signal });
    if (before.current !== current) {
      return { version, current, last: { from: before.current, version: event.version, type: event.type } };
    }
    place = placeOfVersion(events, from + 1);
  }
  return { version, current, last: undefined };
}
