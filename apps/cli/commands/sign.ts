import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { Command } from "@commander-js/extra-typings";
import { exitCodes } from "../exit-codes.ts";
import { refuseDamaged } from "../exported-threads.ts";
import { isFile } from "../is-file.ts";
import { readInput } from "../read-input.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** A file would be overwritten. */
class FileExistsError extends Error {
  override readonly name = "FileExistsError";
}

/** `threadfold sign` */
export function define(command: Command, session: Session): void {
  command
    .argument("[position]", "thread, or thread@version")
    .option("--key <file>", "private key (Ed25519, PEM) to sign with; public key to verify with")
    .option("-o, --output <file>", "write the signed head to a file (default: stdout)")
    .option("--verify <file>", "check a signed head against the log")
    .option("--offline", "with --verify: check the signature only, without a log")
    .option("--new-key <name>", "make a key pair: <name>.key and <name>.pub")
    .action(async (position, { key, output, verify, offline, newKey }) => {
      const signing = await import("../../../projections/signed-head.ts");
      if (newKey !== undefined) {
        const { privateKey, publicKey } = signing.generateSigningKeys();
        for (const file of [`${newKey}.key`, `${newKey}.pub`]) {
          if (existsSync(file)) {
            throw new FileExistsError(
              `${file} is there already. A key that was used must not be lost; give another name, like: threadfold sign --new-key ${newKey}-2`,
            );
          }
        }
        await writeFile(`${newKey}.key`, privateKey, { mode: 0o600, flag: "wx" });
        await writeFile(`${newKey}.pub`, publicKey, { flag: "wx" });
        await session.terminal.line(`${newKey}.key\n${newKey}.pub`);
        return;
      }
      if (key === undefined) {
        throw new UsageError(
          "The key is missing. Give --key <file>; make one with: threadfold sign --new-key audit",
        );
      }
      if (verify !== undefined)
        return verifyHead(session, verify, key, { offline: offline === true, source: position });
      if (position === undefined)
        throw new UsageError(
          "Nothing to sign. Name a thread, like: threadfold sign <thread> --key audit.key",
        );
      const { resolvePosition } = await import("../../../projections/thread-position.ts");
      const { log } = await session.store();
      const { stream, version } = await resolvePosition(log, position);
      const head = await signing.signHead(log, stream, { privateKey: await readInput(key), version });
      const text = JSON.stringify(head, null, 2);
      if (output === undefined) await session.terminal.line(text);
      else await writeFile(output, `${text}\n`);
    });
}

async function verifyHead(
  session: Session,
  file: string,
  keyFile: string,
  { offline, source }: { readonly offline: boolean; readonly source: string | undefined },
): Promise<void> {
  const { terminal, options } = session;
  const { parseSignedHead, verifySignedHead } = await import("../../../projections/signed-head.ts");
  const { storedLog } = await import("../../../events/log/encrypting-log.ts");
  const head = parseSignedHead(await readInput(file));
  const publicKey = await readInput(keyFile);
  const open = async () => {
    if (source === undefined) return session.store();
    if (!isFile(source)) {
      throw new UsageError(
        `"${source}" is no file. With --verify name an exported file, or nothing to look in the store.`,
      );
    }
    const { openExport } = await import("../../../projections/open-export.ts");
    const opened = await openExport(source).catch(refuseDamaged);
    session.onEnd(() => opened.close());
    return opened;
  };
  const events = offline ? undefined : storedLog((await open()).log).read(head.stream);
  const verdict = await verifySignedHead(head, { publicKey, ...(events && { events }) });
  if (!verdict.holds) session.exitWith(exitCodes.checkFailed);
  const result = { stream: head.stream, version: head.version, keyId: head.keyId, ...verdict };
  if (options.json) return terminal.json(result);
  if (options.ndjson) return terminal.record(result);
  const { green, red } = terminal.colors;
  const at = `${head.stream}@${head.version}`;
  await terminal.line(
    verdict.holds ? `${at}: ${green("holds")}` : `${at}: ${red("does not hold")} (${verdict.detail})`,
  );
}
