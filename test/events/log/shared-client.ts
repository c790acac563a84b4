import { setTimeout as pause } from "node:timers/promises";
import type { KurrentModule } from "../../../events/log/kurrentdb.ts";
import { createKurrentClient, type KurrentClient } from "../../../events/log/kurrentdb-client.ts";

/**
 * One connection for many logs: the first read of a client takes half a second.
 *
 * @returns the module to open logs with, and what closes the connection after the last of them
 */
export function shareClient(
  module: KurrentModule,
  url: string,
): { readonly client: KurrentModule; close(): Promise<void> } {
  const connected = createKurrentClient(module, url);
  return {
    client: { EventStoreDBClient: { connectionString: () => undisposed(connected) } },
    // The older client does not always tell that it has let go.
    close: () => Promise.race([connected.dispose(), pause(2000)]),
  };
}

function undisposed(client: KurrentClient): KurrentClient {
  return {
    appendToStream: (...given) => client.appendToStream(...given),
    readStream: (...given) => client.readStream(...given),
    readAll: (...given) => client.readAll(...given),
    subscribeToAll: (...given) => client.subscribeToAll(...given),
    tombstoneStream: (...given) => client.tombstoneStream(...given),
    dispose: async () => {},
    get capabilities() {
      return client.capabilities ?? Promise.resolve({});
    },
  };
}
