/** Where a query may begin: a password that is not percent-encoded may have a question mark, too. */
const queryStart = /\?(?=[a-z][\w.-]*=)/gi;
/** Values that may hold an @. In other places the last one ends a password. */
const mayHoldAt =
  /^(?:side|blobs|keys|user|password|options|(?:fallback_)?application_name|connectionName)$/i;
const servers = /^(?:(?:\[[^\]]*\]|[^:@/,[\]]*)(?::\d*)?(?:,|$))+$/;
const secretName = /^(?:user|key|blobs)|password|token|secret/i;
const secretsOfPath = /([?&](?:password|user|token|key|blobs)[^=&#]*=)[^&]*/gi;

/**
 * A store URL as it may be shown and logged: without user name, password and secrets in the query, also when its
 * password was not percent-encoded and the URL cannot be read.
 *
 * @example
 * withoutCredentials("postgres://ada:secret@db/threads"); // "postgres://db/threads"
 */
export function withoutCredentials(url: string): string {
  // Two letters at least: `C:\threads.db` is a path.
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]+:(?:\/\/)?)(.*)$/is.exec(url) ?? [];
  if (scheme === undefined || /^sqlite:/i.test(scheme)) return url.replace(secretsOfPath, "$1***");
  const start = startOfQuery(rest);
  const before = rest.slice(0, start);
  return `${scheme}${before.slice(before.lastIndexOf("@") + 1)}${withoutSecrets(rest.slice(start))}`;
}

/** The same, and without its query: which server a message is about. */
export function serverOf(url: string): string {
  return withoutCredentials(url).replace(/[?#].*$/s, "");
}

/** Where the query of a server's URL begins, at its question mark; without a query the length of the URL. */
export function queryIndex(url: string): number {
  const [scheme = ""] = /^[a-z][a-z0-9+.-]+:(?:\/\/)?/i.exec(url) ?? [];
  return scheme.length + startOfQuery(url.slice(scheme.length));
}

/** In doubt it is part of the password: rather too little is shown than too much. */
function startOfQuery(rest: string): number {
  for (const { index } of rest.matchAll(queryStart)) {
    const held = rest
      .slice(index + 1)
      .split("&")
      .filter((pair) => pair.includes("@"));
    const [authority = ""] = rest.slice(0, index).split("/");
    const isPlain = rest.slice(0, index).includes("@") || servers.test(authority);
    if (held.length === 0 || (isPlain && held.every((pair) => mayHoldAt.test(nameOf(pair))))) return index;
  }
  return rest.length;
}

function nameOf(pair: string): string {
  return /^([^=]*)=/.exec(pair)?.[1] ?? "";
}

/** What has no name is the rest of a secret that was not percent-encoded. */
function withoutSecrets(query: string): string {
  if (query === "") return "";
  const shown = query
    .slice(1)
    .split("&")
    .map((pair) => {
      const name = nameOf(pair);
      if (name === "") return pair === "" ? "" : "***";
      return secretName.test(name) ? `${name}=***` : pair;
    });
  return `?${shown.join("&")}`;
}
