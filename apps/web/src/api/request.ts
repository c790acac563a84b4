import { apiUrl, lost } from "./connection.ts";
import { askForToken, tokenNow } from "./token.ts";

/** The server refused a request, with its reason in words. */
export class RequestProblem extends Error {
  override readonly name = "RequestProblem";
  constructor(
    readonly status: number,
    readonly title: string,
    detail: string,
  ) {
    super(detail);
  }
}

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Body as JSON. */
  readonly json?: unknown;
  /** Body as it is: a form with files, a file. */
  readonly body?: FormData | Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

async function problemOf(answer: Response): Promise<RequestProblem> {
  const text = await answer.text().catch(() => "");
  try {
    const { title, detail, message } = JSON.parse(text) as Record<string, unknown>;
    return new RequestProblem(
      answer.status,
      String(title ?? answer.statusText),
      String(detail ?? message ?? text),
    );
  } catch {
    return new RequestProblem(answer.status, answer.statusText, text.slice(0, 500) || answer.statusText);
  }
}

/**
 * A request to the server. Asks for a token when one is needed. What only reads waits for a server that is away and is
 * sent again; a change is not: it may have been made.
 *
 * @throws {RequestProblem} the server refused it
 */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", json, body, headers = {}, signal } = options;
  for (;;) {
    const token = tokenNow();
    const init: RequestInit = {
      method,
      credentials: "omit",
      headers: {
        ...headers,
        ...(json !== undefined && { "Content-Type": "application/json" }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body && { body }),
      ...(signal && { signal }),
    };
    let answer: Response;
    try {
      answer = await fetch(apiUrl(path), init);
    } catch (error) {
      if (signal?.aborted) throw error;
      const back = lost();
      if (method !== "GET") throw new RequestProblem(0, "Offline", "The server does not answer.");
      await back;
      continue;
    }
    if (answer.status === 401) {
      await askForToken(token);
      continue;
    }
    if (!answer.ok) throw await problemOf(answer);
    return answer;
  }
}

/** The JSON of an answer. @throws {RequestProblem} */
export async function requestJson<Value>(path: string, options: RequestOptions = {}): Promise<Value> {
  const answer = await request(path, options);
  return (await answer.json()) as Value;
}

/** A path with its query; values that are undefined are left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, String(value));
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
}
