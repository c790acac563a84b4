import * as kurrent from "@kurrent/kurrentdb-client";
import { type ChainHead, chainStart, sealEvents } from "../events/hash-chain.ts";
import { openKurrentDb } from "../events/log/kurrentdb.ts";
import { createKurrentClient } from "../events/log/kurrentdb-client.ts";
import { decodeEvent, encodeEvent, placeOf } from "../events/log/kurrentdb-events.ts";
import { eventsPerPage } from "../events/log/kurrentdb-reader.ts";
import { type LogSide, sideOf } from "./log-side.ts";
import { rate } from "./rate.ts";

export async function openLogSide(url: string): Promise<LogSide> {
  return sideOf((await openKurrentDb(url, { client: kurrent })).log);
}

/**
 * The client alone. It makes the same events with the same hashes, and asks for exact revisions and pages of the same
 * size; it checks no limits, knows no retry and no erasures.
 */
export async function openClientSide(url: string): Promise<LogSide> {
  const client = createKurrentClient(kurrent, url);
  const readAll = async (): Promise<number> => {
    let read = 0;
    for (let place = 0n; ; ) {
      const fromPosition = place === 0n ? "start" : { commit: place, prepare: place };
      const filter = { filterOn: "streamName", regex: "^[A-Za-z0-9]", checkpointInterval: 10 } as const;
      let found = 0;
      const options = { direction: "forwards", maxCount: eventsPerPage + 1, fromPosition, filter } as const;
      for await (const resolved of client.readAll(options)) {
        found += 1;
        const at = BigInt(placeOf(resolved));
        if (!resolved.event || at <= place) continue;
        decodeEvent(resolved.event, Number(at));
        place = at;
        read += 1;
      }
      if (found <= eventsPerPage) return read;
    }
  };
  await readAll();
  const heads = new Map<string, ChainHead>();
  return {
    append: (stream, _version, events) =>
      rate(events.length, async () => {
        let head = heads.get(stream) ?? { version: 0, hash: chainStart };
        for (const event of events) {
          const [sealed] = sealEvents(stream, head, [event]);
          if (!sealed) throw new Error("one event");
          const state = head.version === 0 ? "no_stream" : BigInt(head.version - 1);
          const options = { streamState: state, expectedRevision: state } as const;
          await client.appendToStream(stream, [encodeEvent(sealed, event.data)], options);
          head = { version: sealed.version, hash: sealed.metadata.hash };
        }
        heads.set(stream, head);
      }),
    readAll: (count) =>
      rate(count, async () => {
        const read = await readAll();
        if (read !== count) throw new Error(`${read} of ${count} events were read`);
      }),
    close: () => client.dispose(),
  };
}
