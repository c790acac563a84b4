import { startPostgres } from "../../events/log/postgres-server.ts";

/** One server for the whole suite, when it is run on PostgreSQL. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.STORE_UNDER_TEST !== "postgres") return undefined;
  const server = await startPostgres(["fsync=off", "max_connections=400"]);
  process.env.STORE_UNDER_TEST_URL = server.url({});
  return () => server.stop();
}
