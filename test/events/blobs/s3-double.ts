import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/*
 * What blobs need of S3, from memory: PutObject, GetObject, HeadObject, DeleteObject and ListObjectsV2 by path, each
 * request with a signature of version 4 over its headers and the hash of its body, which are verified as the service's
 * documentation describes it ("Authenticating Requests (AWS Signature Version 4)"). Test code.
 */

const bucket = "threads";
const accessKey = "AKIDEXAMPLE";
const secretKey = "the secret key/of+tests";
const region = "eu-central-1";
const keysPerPage = 1000;

interface StoredObject {
  readonly bytes: Buffer;
  readonly writtenAt: Date;
}

export interface S3Double {
  /** URL of a folder of the bucket that was not used before. */
  newUrl(changes?: { bucket?: string; secret?: string; key?: string }): string;
  /** By key. */
  readonly objects: Map<string, StoredObject>;
  /** Requests so far, as `PUT folder/…`. */
  readonly requests: string[];
  stop(): Promise<void>;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const uriEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function checkSignature(request: IncomingMessage, url: URL, body: Buffer): void {
  const authorization = request.headers.authorization ?? "";
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
  const [, key, day = "", scopeRegion = "", signedHeaders = "", signature] = form.exec(authorization) ?? [];
  if (key === undefined) throw new Refusal(403, "AccessDenied", "Access Denied");
  if (key !== accessKey) throw new Refusal(403, "InvalidAccessKeyId", "The access key does not exist.");
  const bodyHash = String(request.headers["x-amz-content-sha256"]);
  if (bodyHash !== sha256(body)) {
    throw new Refusal(400, "XAmzContentSHA256Mismatch", "The body does not have the signed hash.");
  }
  const query = [...url.searchParams]
    .map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`)
    .sort()
    .join("&");
  const headers = signedHeaders.split(";").map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = [request.method, url.pathname, query, headers.join(""), signedHeaders, bodyHash].join(
    "\n",
  );
  const scope = `${day}/${scopeRegion}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const signingKey = [day, scopeRegion, "s3", "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${secretKey}`,
  );
  if (scopeRegion !== region || hmac(signingKey, toSign).toString("hex") !== signature) {
    throw new Refusal(403, "SignatureDoesNotMatch", "The request signature does not match.");
  }
}

export async function startS3Double(): Promise<S3Double> {
  const objects = new Map<string, StoredObject>();
  const requests: string[] = [];
  let folders = 0;

  const list = (url: URL): string => {
    const prefix = url.searchParams.get("prefix") ?? "";
    const after = Buffer.from(url.searchParams.get("continuation-token") ?? "", "base64").toString();
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, keysPerPage);
    const contents = page.map((key) => {
      const { bytes, writtenAt = new Date() } = objects.get(key) ?? { bytes: Buffer.alloc(0) };
      return `<Contents><Key>${key}</Key><Size>${bytes.length}</Size><LastModified>${writtenAt.toISOString()}</LastModified></Contents>`;
    });
    const last = page.at(-1) ?? "";
    const next =
      page.length < keys.length
        ? `<NextContinuationToken>${Buffer.from(last).toString("base64")}</NextContinuationToken>`
        : "";
    return `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>${contents.join("")}${next}</ListBucketResult>`;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
    checkSignature(request, url, body);
    const [, asked, ...rest] = decodeURIComponent(url.pathname).split("/");
    const key = rest.join("/");
    requests.push(`${request.method} ${key}`);
    if (asked !== bucket) throw new Refusal(404, "NoSuchBucket", "The bucket does not exist.");
    const found = objects.get(key);
    switch (request.method) {
      case "PUT":
        objects.set(key, { bytes: body, writtenAt: new Date() });
        response.end();
        return;
      case "DELETE":
        objects.delete(key);
        response.writeHead(204).end();
        return;
      default:
        if (key === "") {
          response.setHeader("content-type", "application/xml");
          response.end(list(url));
          return;
        }
        if (!found) throw new Refusal(404, "NoSuchKey", "The key does not exist.");
        response.setHeader("content-length", found.bytes.length);
        response.setHeader("last-modified", found.writtenAt.toUTCString());
        response.end(request.method === "HEAD" ? undefined : found.bytes);
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, code, message } =
        error instanceof Refusal ? error : new Refusal(500, "InternalError", String(error));
      response.writeHead(status, { "content-type": "application/xml" });
      const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
      response.end(request.method === "HEAD" ? undefined : text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A port was asked for");
  return {
    objects,
    requests,
    newUrl(changes = {}) {
      const user = `${changes.key ?? accessKey}:${encodeURIComponent(changes.secret ?? secretKey)}`;
      const endpoint = encodeURIComponent(`http://127.0.0.1:${address.port}`);
      return `s3://${user}@${changes.bucket ?? bucket}/folder/${++folders}?region=${region}&endpoint=${endpoint}`;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
