import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { sha256 as digest } from "../hash-chain.ts";
import { BlobDamagedError, BlobMissingError, type BlobStore, needsRefresh } from "./blob-store.ts";

const digestForm = /^[0-9a-f]{64}$/;
/** Of one connection, and of one answer, in milliseconds. */
const connectTimeoutMs = 5000;
const answerTimeoutMs = 60_000;

/** The client of S3 is not installed. */
export class MissingS3ClientError extends Error {
  override readonly name = "MissingS3ClientError";
  constructor(cause: unknown) {
    super(
      'The package "@aws-sdk/client-s3" is not installed, and blobs at an s3:// URL need it. Run: npm install @aws-sdk/client-s3',
      { cause },
    );
  }
}

/** The bucket cannot be reached or used; what was to be written is not there. */
export class BlobsUnavailableError extends Error {
  override readonly name = "BlobsUnavailableError";
}

/** A URL taken apart. */
interface S3Address {
  readonly bucket: string;
  /** Before the digests, with a slash at the end; empty: the bucket itself. */
  readonly prefix: string;
  readonly config: S3ClientConfig;
  /** Without credentials, for messages. */
  readonly where: string;
}

/** @throws {BlobsUnavailableError} the URL cannot be read */
function parseS3Url(url: string): S3Address {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // A port: the secret has a slash that is not percent-encoded, and would be taken for the folder.
  if (!parsed?.hostname || parsed.port !== "") {
    throw new BlobsUnavailableError(
      "The URL of the blobs cannot be read. Write s3://bucket/folder?region=eu-central-1, for other servers with &endpoint=https://host.",
    );
  }
  const { hostname: bucket, pathname, username, password, searchParams } = parsed;
  const endpoint = searchParams.get("endpoint") ?? undefined;
  const folder = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, "");
  const credentials = username !== "" && {
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
  };
  return {
    bucket,
    prefix: folder === "" ? "" : `${folder}/`,
    where: `s3://${bucket}${folder === "" ? "" : `/${folder}`}`,
    config: {
      region: searchParams.get("region") ?? process.env.AWS_REGION ?? "us-east-1",
      // Compatible servers have no name of their own for each bucket.
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(credentials && { credentials }),
    },
  };
}

async function loadClient(): Promise<typeof import("@aws-sdk/client-s3")> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    throw new MissingS3ClientError(error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === "NoSuchKey" || error.name === "NotFound");
}

/** Words for what the service says most often. */
const nextByName: Readonly<Record<string, string>> = {
  NoSuchBucket: "Make the bucket, or name another one.",
  AccessDenied: "Check the access key, its secret, and what its policy allows.",
  CredentialsProviderError:
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write s3://key:secret@bucket/folder.",
};

interface ServiceError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function unavailable(where: string, error: unknown): BlobsUnavailableError {
  const { name = "", message = "", code, $metadata } = error as ServiceError;
  const status = $metadata?.httpStatusCode;
  // Answers to HEAD have no body, so nothing but the status.
  const isUnnamed = !Object.hasOwn(nextByName, name) && (name.startsWith("Unknown") || status === 403);
  const told =
    isUnnamed && status === 403 ? "access is refused (403)" : message.replaceAll(/\s+/g, " ").trim();
  const reason = [code, told.replace(/\.$/, "")].filter((text) => text).join(": ") || name;
  const next =
    nextByName[status === 403 ? "AccessDenied" : name] ?? "Check the endpoint, and that the service runs.";
  return new BlobsUnavailableError(`${where} cannot be used: ${reason}. ${next}`, { cause: error });
}

/** Blobs in a bucket. Close it to let its connections go. */
export interface S3Blobs {
  readonly blobs: BlobStore;
  close(): Promise<void>;
}

/**
 * Blobs as objects `<folder>/<first two digits>/<sha256>` of a bucket of S3 or of a server that speaks its protocol, for
 * machines that share a log. `put` resolves when the service has said that the object is stored. Bytes are verified
 * whenever they are read. Without credentials in the URL those of the environment are used, as by all tools of AWS.
 *
 * @param url `s3://bucket/folder?region=eu-central-1`; for other servers `&endpoint=https://minio.example:9000`
 * @throws {MissingS3ClientError} @throws {BlobsUnavailableError} the URL cannot be read
 * @example
 * const { blobs } = await openS3Blobs("s3://threads/blobs?region=eu-central-1");
 */
export async function openS3Blobs(url: string): Promise<S3Blobs> {
  const { bucket, prefix, where, config } = parseS3Url(url);
  const s3 = await loadClient();
  const client: S3Client = new s3.S3Client({
    ...config,
    // Checksums beside the signed hash of the content: many compatible servers do not know them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: connectTimeoutMs, requestTimeout: answerTimeoutMs },
  });
  const at = (sha256: string) => ({ Bucket: bucket, Key: `${prefix}${sha256.slice(0, 2)}/${sha256}` });

  const asking = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call();
    } catch (error) {
      throw unavailable(where, error);
    }
  };
  const orMissing = <Result>(call: () => Promise<Result>): Promise<Result | undefined> =>
    asking(() =>
      call().catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      }),
    );
  const headOf = (sha256: string) => orMissing(() => client.send(new s3.HeadObjectCommand(at(sha256))));

  const blobs: BlobStore = {
    has: async (sha256) => digestForm.test(sha256) && (await headOf(sha256)) !== undefined,
    async put(content, mimeType) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const sha256 = digest(bytes);
      const head = await headOf(sha256);
      if (!head || needsRefresh(head.LastModified)) {
        const object = { ...at(sha256), Body: Uint8Array.from(bytes), ContentLength: bytes.length };
        await asking(() => client.send(new s3.PutObjectCommand(object)));
      }
      return { sha256, mimeType, size: bytes.length };
    },
    async get(sha256) {
      if (!digestForm.test(sha256)) throw new BlobMissingError(sha256);
      const bytes = await orMissing(async () => {
        const { Body } = await client.send(new s3.GetObjectCommand(at(sha256)));
        return Body ? Body.transformToByteArray() : new Uint8Array();
      });
      if (!bytes) throw new BlobMissingError(sha256);
      if (digest(bytes) !== sha256) throw new BlobDamagedError(sha256);
      return new Uint8Array(bytes);
    },
    async delete(sha256, { writtenBefore } = {}) {
      if (!digestForm.test(sha256)) return true;
      if (writtenBefore !== undefined) {
        // The service cannot compare and delete at once: between the two is one answer's time.
        const head = await headOf(sha256);
        if (head?.LastModified && head.LastModified.toISOString() >= writtenBefore) return false;
      }
      await orMissing(() => client.send(new s3.DeleteObjectCommand(at(sha256))));
      return true;
    },
    async *list() {
      for (let token: string | undefined; ; ) {
        const wanted = { Bucket: bucket, Prefix: prefix, ContinuationToken: token };
        const page = await asking(() => client.send(new s3.ListObjectsV2Command(wanted)));
        for (const { Key = "", Size = 0, LastModified } of page.Contents ?? []) {
          const sha256 = Key.slice(Key.lastIndexOf("/") + 1);
          if (!digestForm.test(sha256) || Key !== at(sha256).Key || !LastModified) continue;
          yield { sha256, size: Size, writtenAt: LastModified.toISOString() };
        }
        token = page.NextContinuationToken;
        if (token === undefined) return;
      }
    },
  };
  return { blobs, close: async () => client.destroy() };
}
