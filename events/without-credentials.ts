/** Where a query begins that consists of parameters: a password may have a question mark, too. */
const queryStart = /\?(?=[a-z][\w.-]*=)/i;
const secrets = /([?&](?:password|user|token|key|blobs)[^=&#]*=)[^&#]*/gi;

/**
 * A store URL as it may be shown and logged: without user name, password and secrets in the query, also when its
 * password was not percent-encoded and the URL cannot be read.
 *
 * @example
 * withoutCredentials("postgres://ada:secret@db/threads"); // "postgres://db/threads"
 */
export function withoutCredentials(url: string): string {
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(url) ?? [];
  if (scheme === undefined || /^sqlite:/i.test(scheme)) return url.replace(secrets, "$1***");
  const start = rest.search(queryStart);
  const [before, query] = start < 0 ? [rest, ""] : [rest.slice(0, start), rest.slice(start)];
  return `${scheme}${before.slice(before.lastIndexOf("@") + 1)}${query.replace(secrets, "$1***")}`;
}

/** The same, and without its query: which server a message is about. */
export function serverOf(url: string): string {
  return withoutCredentials(url).replace(/[?#].*$/s, "");
}
