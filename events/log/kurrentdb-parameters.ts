import { StoreUrlError } from "../store-url-error.ts";
import { queryIndex, serverOf } from "../without-credentials.ts";
import type { KurrentModule } from "./kurrentdb-client.ts";
import { checkNamedFile } from "./named-file.ts";

/** What both clients take; they know the names without regard to case, `-` and `_`. */
const known = [
  "tls",
  "tlsCAFile",
  "tlsVerifyCert",
  "userCertFile",
  "userKeyFile",
  "connectionName",
  "defaultDeadline",
  "discoveryInterval",
  "gossipTimeout",
  "keepAliveInterval",
  "keepAliveTimeout",
  "maxDiscoverAttempts",
  "nodePreference",
  "throwOnAppendFailure",
];

/** Of one that is not there the client does not say which. */
const files = ["tlsCAFile", "userCertFile", "userKeyFile"];
const flat = (name: string) => name.toLowerCase().replace(/[_-]/g, "");

/**
 * Refuses what the client would only warn of: its warnings show the whole URL with its password, and what it ignores is
 * most often `tls` written wrong.
 *
 * @throws {StoreUrlError}
 */
export function checkParameters(module: KurrentModule, url: string): void {
  const query = url.slice(queryIndex(url) + 1);
  for (const pair of query.split("&")) {
    const [, name = "", value] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    if (value === undefined) continue;
    const option = known.find((one) => flat(one) === flat(name));
    if (option === undefined) {
      throw new StoreUrlError(
        `The URL of ${serverOf(url)} has the parameter "${name}", which the client does not know. Write one of ${known.join(", ")}, or side, blobs or keys.`,
      );
    }
    if (option === "tlsVerifyCert" && value === "false" && !module.KurrentDBClient) {
      throw new StoreUrlError(
        `The URL of ${serverOf(url)} has tlsVerifyCert=false, which @eventstore/db-client does not support. Name the authority of the server's certificate with tlsCAFile=<file>.`,
      );
    }
    if (files.includes(option)) checkNamedFile("KurrentDB", option, decoded(value));
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
