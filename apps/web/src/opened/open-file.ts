import { auditApi, isOpenedFile } from "../api/audit-api.ts";
import { apiUrl } from "../api/connection.ts";
import { RequestProblem } from "../api/request.ts";
import { createValueStore } from "../api/value-store.ts";

/** A file that is on its way to be shown, or was refused. */
export type Opening =
  | { readonly kind: "opening"; readonly name: string }
  | { readonly kind: "refused"; readonly name: string; readonly reason: string };

export const opening = createValueStore<Opening | undefined>(undefined);

const nameKey = (id: string) => `threadfold.opened.${id}`;

async function unpacked(file: File): Promise<Blob> {
  if (!/\.gz$/i.test(file.name)) return file;
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

/** Gives a file to the server to look at, and goes to where it is shown. */
export async function openFile(file: File): Promise<void> {
  const { name } = file;
  opening.set({ kind: "opening", name });
  try {
    const { id, threads } = await auditApi.open(await unpacked(file));
    window.sessionStorage.setItem(nameKey(id), name.slice(0, 200));
    const [first] = threads;
    const query = first === undefined ? "" : `?${new URLSearchParams({ thread: first })}`;
    window.location.assign(apiUrl(`${isOpenedFile() ? "../" : "opened/"}${id}/${query}`));
  } catch (error) {
    const reason = error instanceof RequestProblem ? error.message : String(error);
    opening.set({ kind: "refused", name, reason });
  }
}

/** The name of the file that the page shows; undefined: it shows the server's own store, or does not know. */
export function nameOfOpenedFile(): string | undefined {
  const id = /\/opened\/([0-9a-f-]{36})\/$/.exec(new URL(".", window.location.href).pathname)?.[1];
  return id === undefined ? undefined : (window.sessionStorage.getItem(nameKey(id)) ?? undefined);
}
