import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import type { z } from "zod";
import { canonicalJson } from "../events/canonical-json.ts";
import type { RecordedEvent } from "../events/envelope.ts";
import { chainStart, findBrokenLink } from "../events/hash-chain.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { lazySchema } from "../events/zod.ts";
import { checkVersion } from "./lineage.ts";

const signedHeadSchema = lazySchema((z) =>
  z.object({
    format: z.literal("threadfold.signed-head"),
    algorithm: z.literal("Ed25519"),
    stream: z.string(),
    version: z.number().int().positive(),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    recordedAt: z.string(),
    keyId: z.string(),
    signature: z.string(),
  }),
);

/**
 * Proof that somebody saw the head of a stream: with it, every event up to the version is fixed, since the hashes are a
 * chain.
 */
export type SignedHead = z.infer<ReturnType<typeof signedHeadSchema>>;

/** A text is no signed head. */
export class SignedHeadFormatError extends Error {
  override readonly name = "SignedHeadFormatError";
}

/** A key is no Ed25519 key in PEM form. */
export class SigningKeyError extends Error {
  override readonly name = "SigningKeyError";
}

/** A new Ed25519 key pair in PEM form: keep the private one apart from the log, give the public one to auditors. */
export function generateSigningKeys(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    publicKey: String(publicKey.export({ type: "spki", format: "pem" })),
  };
}

function readKey(pem: string, read: (pem: string) => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read(pem);
  } catch (cause) {
    throw new SigningKeyError(
      `The key cannot be read: ${(cause as Error).message}. Give an Ed25519 key in PEM form.`,
      {
        cause,
      },
    );
  }
  if (key.asymmetricKeyType !== "ed25519") {
    throw new SigningKeyError(
      `The key is of type ${key.asymmetricKeyType}. Give an Ed25519 key in PEM form.`,
    );
  }
  return key;
}

/** Short name of a public key: the first 16 hex digits of its SHA-256. */
function keyIdOf(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex")
    .slice(0, 16);
}

type HeadFacts = Pick<SignedHead, "stream" | "version" | "hash" | "recordedAt">;

function signedText({ stream, version, hash, recordedAt }: HeadFacts): Buffer {
  return Buffer.from(`threadfold.signed-head\n${canonicalJson({ stream, version, hash, recordedAt })}`);
}

/**
 * Signs the head of a stream, or an earlier version of it.
 *
 * @param options.privateKey Ed25519, PEM
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {SigningKeyError}
 * @example
 * const head = await signHead(store.log, "thread-0190c3…", { privateKey });
 * await writeFile("head.json", JSON.stringify(head));
 */
export async function signHead(
  log: EventLog,
  stream: string,
  options: { readonly privateKey: string; readonly version?: number },
): Promise<SignedHead> {
  const key = readKey(options.privateKey, createPrivateKey);
  const head = await checkVersion(log, stream, options.version);
  const version = options.version ?? head;
  let event: RecordedEvent | undefined;
  for await (const page of storedLog(log).read(stream, { from: version, to: version })) event = page[0];
  if (!event) throw new SignedHeadFormatError(`${stream} has no event to sign at version ${version}.`);
  const facts = { stream, version, hash: event.metadata.hash, recordedAt: event.recordedAt };
  return {
    format: "threadfold.signed-head",
    algorithm: "Ed25519",
    ...facts,
    keyId: keyIdOf(createPublicKey(key)),
    signature: sign(null, signedText(facts), key).toString("base64"),
  };
}

/** @throws {SignedHeadFormatError} */
export function parseSignedHead(text: string): SignedHead {
  try {
    return signedHeadSchema().parse(JSON.parse(text));
  } catch (cause) {
    throw new SignedHeadFormatError("The file is no signed head. Give one that `threadfold sign` made.", {
      cause,
    });
  }
}

/** What checking a signed head found. */
export type HeadVerdict =
  | { readonly holds: true; readonly version: number }
  | {
      readonly holds: false;
      readonly reason: "signature" | "other-key" | "missing" | "hash" | "chain";
      readonly detail: string;
    };

/**
 * Checks a signed head offline: its signature, and, when events are given, that the stream holds exactly what was
 * signed. Later events may follow.
 *
 * @param options.events stored events of the stream from version 1 on, as a log or an export gives them
 * @throws {SigningKeyError}
 * @example
 * await verifySignedHead(head, { publicKey, events: storedLog(store.log).read(head.stream) });
 */
export async function verifySignedHead(
  head: SignedHead,
  options: {
    readonly publicKey: string;
    readonly events?: AsyncIterable<readonly RecordedEvent[]> | Iterable<readonly RecordedEvent[]>;
  },
): Promise<HeadVerdict> {
  const key = readKey(options.publicKey, createPublicKey);
  if (keyIdOf(key) !== head.keyId) {
    return {
      holds: false,
      reason: "other-key",
      detail: `signed with key ${head.keyId}, not ${keyIdOf(key)}`,
    };
  }
  if (!verify(null, signedText(head), key, Buffer.from(head.signature, "base64"))) {
    return { holds: false, reason: "signature", detail: "the signature does not fit what it signs" };
  }
  if (!options.events) return { holds: true, version: head.version };
  let last = { version: 0, hash: chainStart };
  for await (const page of options.events) {
    const events = page.filter((event) => event.stream === head.stream && event.version <= head.version);
    const broken = findBrokenLink(events, last);
    if (broken) {
      const detail = `the chain breaks at ${broken.stream}@${broken.version} (${broken.reason})`;
      return { holds: false, reason: "chain", detail };
    }
    const end = events.at(-1);
    if (end) last = { version: end.version, hash: end.metadata.hash };
  }
  if (last.version < head.version) {
    return {
      holds: false,
      reason: "missing",
      detail: `the stream ends at version ${last.version} of ${head.version}`,
    };
  }
  if (last.hash !== head.hash) {
    return {
      holds: false,
      reason: "hash",
      detail: `version ${head.version} has hash ${last.hash}, signed was ${head.hash}`,
    };
  }
  return { holds: true, version: head.version };
}
