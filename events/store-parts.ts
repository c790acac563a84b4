import type { BlobStore } from "./blobs/blob-store.ts";
import { openBlobs } from "./blobs/open-blobs.ts";

interface Closable {
  close(): Promise<void>;
}

/** What a store is made of. */
export interface StoreParts {
  /** Closes a part together with the store. */
  keep<Part extends Closable>(part: Part): Part;
  /** The blobs that were asked for, opened when a URL or folder names them; `own` when none were. */
  blobs(given: BlobStore | string | undefined, own: () => BlobStore): Promise<BlobStore>;
  /** Closes all parts, the last one first. */
  close(): Promise<void>;
}

export function createParts(): StoreParts {
  const opened: Closable[] = [];
  const parts: StoreParts = {
    keep(part) {
      opened.push(part);
      return part;
    },
    async blobs(given, own) {
      if (typeof given !== "string") return given ?? own();
      return parts.keep(await openBlobs(given)).blobs;
    },
    async close() {
      for (const part of opened.splice(0).reverse()) await part.close();
    },
  };
  return parts;
}

/** Takes parameters out of the query of a URL, for whose server they are not; the rest stays as it is written. */
export function takeParameters<Name extends string>(
  url: string,
  names: readonly Name[],
): [address: string, taken: Partial<Record<Name, string>>] {
  const [, before = url, query] = /^([^?]*)\?(.*)$/s.exec(url) ?? [];
  if (query === undefined) return [url, {}];
  const given = new URLSearchParams(query);
  const taken: Partial<Record<Name, string>> = {};
  for (const name of names) taken[name] = given.get(name) ?? undefined;
  const isOurs = (pair: string) => names.some((name) => pair === name || pair.startsWith(`${name}=`));
  const rest = query.split("&").filter((pair) => !isOurs(pair));
  return [rest.length === 0 ? before : `${before}?${rest.join("&")}`, taken];
}
