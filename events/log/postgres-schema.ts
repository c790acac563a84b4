import type { Pool, PoolClient } from "pg";
import { StoreUrlError } from "../store-url-error.ts";
import { LogFormatError, LogUnavailableError } from "./event-log.ts";
import { translatePostgresError } from "./postgres-errors.ts";

/** Oldest server version that is tested: 12. */
const oldestServer = 120_000;
/** One lock for whoever changes the tables; the hash of the schema's name is the other half of the key. */
const migrationLock = 0x54464d;

/**
 * What brings a schema from each version to the next. Names without a schema are
 * looked for in the search path of the transaction.
 * `json` keeps a text as it came; `jsonb` would refuse U+0000 and reorder keys. Ids and names sort by bytes.
 */
const migrations: readonly ((schema: string) => string)[] = [
  () => `
  CREATE TABLE streams (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    version integer NOT NULL,
    hash bytea NOT NULL,
    deleted boolean NOT NULL DEFAULT false,
    first_at text,
    last_at text
  );
  CREATE TABLE events (
    position bigint PRIMARY KEY,
    stream bigint NOT NULL REFERENCES streams (id),
    version integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    schema integer NOT NULL,
    data json NOT NULL,
    recorded_at text NOT NULL,
    metadata json NOT NULL,
    hash bytea NOT NULL,
    previous_hash bytea NOT NULL,
    UNIQUE (stream, version)
  );
  CREATE TABLE side (
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    revision integer NOT NULL,
    value json NOT NULL,
    PRIMARY KEY (kind, key)
  );
  CREATE TABLE blobs (
    sha256 bytea PRIMARY KEY,
    content bytea NOT NULL,
    written_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  ALTER TABLE blobs ALTER COLUMN content SET STORAGE EXTERNAL;
  CREATE TABLE keys (id text COLLATE "C" PRIMARY KEY, key bytea);

  CREATE FUNCTION last_position() RETURNS bigint LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT greatest(
      coalesce((SELECT max(position) FROM events), 0),
      (SELECT value::bigint FROM meta WHERE key = 'erased_through'))
  $$;

  /* Positions are never given twice: a reader that stands behind the erased events must see the next ones. */
  CREATE FUNCTION erase(stream_name text, empty_hash bytea) RETURNS void
  LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock('events'::regclass::oid::bigint);
    UPDATE meta SET value = last_position()::text WHERE key = 'erased_through';
    DELETE FROM events USING streams s WHERE events.stream = s.id AND s.name = stream_name;
    INSERT INTO streams (name, version, hash, deleted) VALUES (stream_name, 0, empty_hash, true)
      ON CONFLICT (name) DO UPDATE SET deleted = true;
  END $$;

  /* Losing a side record costs time, never data: it waits for no sync. */
  CREATE FUNCTION put_side(the_kind text, the_key text, new_value text, if_revision integer) RETURNS integer
  LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  DECLARE
    given integer;
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    IF if_revision IS NULL THEN
      INSERT INTO side (kind, key, revision, value) VALUES (the_kind, the_key, 1, new_value::json)
        ON CONFLICT (kind, key) DO UPDATE SET revision = side.revision + 1, value = excluded.value
        RETURNING revision INTO given;
    ELSIF if_revision = 0 THEN
      INSERT INTO side (kind, key, revision, value) VALUES (the_kind, the_key, 1, new_value::json)
        ON CONFLICT (kind, key) DO NOTHING RETURNING revision INTO given;
    ELSE
      UPDATE side SET revision = revision + 1, value = new_value::json
        WHERE kind = the_kind AND key = the_key AND revision = if_revision RETURNING revision INTO given;
    END IF;
    RETURN given;
  END $$;
  `,
  () => `
  CREATE TABLE queue (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text COLLATE "C" NOT NULL UNIQUE,
    thread text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    request json NOT NULL,
    after_version integer NOT NULL,
    queued_at text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    owner text,
    until timestamptz NOT NULL DEFAULT '-infinity',
    reason text
  );
  CREATE INDEX queue_by_thread ON queue (thread, place);

  /* The rows of each projection table are in a table of their own: projection_rows_<id>. */
  CREATE TABLE projection_tables (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    build integer NOT NULL,
    state text NOT NULL,
    checkpoint text COLLATE "C",
    begins_after text,
    events bigint NOT NULL DEFAULT 0,
    revision bigint NOT NULL DEFAULT 0,
    UNIQUE (name, build)
  );
  CREATE UNIQUE INDEX projection_one_live ON projection_tables (name) WHERE state = 'live';
  CREATE TABLE projection_skipped (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id bigint NOT NULL REFERENCES projection_tables (id) ON DELETE CASCADE,
    record json NOT NULL
  );
  `,
  () => `
  /* One call is one transaction. The lock makes the order of positions the order of commits: whoever read position n
     can never be given a lower one later. Streams that are not where the caller believes come back, and then nothing
     is written; otherwise one row comes back, with the position before the first new event. A short append that goes
     on with one stream, as those of a turn do, moves the head where it checks it and names its values one by one: the
     server keeps the plans of such statements. (In longer ones it would look for each value from the first on.) */
  CREATE OR REPLACE FUNCTION append(
    names text[], known integer[], heads integer[], head_hashes bytea[],
    event_streams text[], versions integer[], ids text[], types text[], schemas integer[], datas text[],
    times text[], metadatas text[], hashes bytea[], previous_hashes bytea[]
  ) RETURNS TABLE (stale text, head integer, head_hash bytea, is_deleted boolean, base bigint)
  LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  DECLARE
    before bigint;
    goes_on boolean := cardinality(names) = 1 AND known[1] > 0 AND cardinality(ids) <= 16;
    stream_id bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock('events'::regclass::oid::bigint);
    IF goes_on THEN
      UPDATE streams SET version = heads[1], hash = head_hashes[1], last_at = times[cardinality(times)]
        WHERE streams.name = names[1] AND streams.version = known[1] AND NOT deleted
        RETURNING streams.id INTO stream_id;
    END IF;
    IF stream_id IS NULL THEN
      RETURN QUERY
        SELECT n.name, coalesce(s.version, 0), s.hash, coalesce(s.deleted, false), NULL::bigint
        FROM unnest(names, known) AS n (name, known) LEFT JOIN streams s ON s.name = n.name
        WHERE coalesce(s.version, 0) <> n.known OR s.deleted;
      IF FOUND THEN RETURN; END IF;
    END IF;
    before := greatest(
      coalesce((SELECT max(position) FROM events), 0),
      (SELECT value::bigint FROM meta WHERE key = 'erased_through'));
    IF stream_id IS NULL THEN
      INSERT INTO streams (name, version, hash, first_at, last_at)
        SELECT n.name, n.head, n.hash, min(e.at), (array_agg(e.at ORDER BY e.version DESC))[1]
        FROM unnest(names, heads, head_hashes) AS n (name, head, hash)
        JOIN unnest(event_streams, versions, times) AS e (name, version, at) ON e.name = n.name
        GROUP BY n.name, n.head, n.hash
        ON CONFLICT (name) DO UPDATE
          SET version = excluded.version, hash = excluded.hash, last_at = excluded.last_at;
      INSERT INTO events
        (position, stream, version, id, type, schema, data, recorded_at, metadata, hash, previous_hash)
        SELECT before + e.place, s.id, e.version, e.id, e.type, e.schema, e.data::json, e.at, e.metadata::json,
          e.hash, e.previous_hash
        FROM unnest(event_streams, versions, ids, types, schemas, datas, times, metadatas, hashes, previous_hashes)
          WITH ORDINALITY AS e (name, version, id, type, schema, data, at, metadata, hash, previous_hash, place)
        JOIN streams s ON s.name = e.name
        ORDER BY e.place;
    ELSE
      FOR place IN 1 .. cardinality(ids) LOOP
        INSERT INTO events
          (position, stream, version, id, type, schema, data, recorded_at, metadata, hash, previous_hash)
          VALUES (before + place, stream_id, versions[place], ids[place], types[place], schemas[place],
            datas[place]::json, times[place], metadatas[place]::json, hashes[place], previous_hashes[place]);
      END LOOP;
    END IF;
    PERFORM pg_notify('threadfold', current_schema());
    RETURN QUERY SELECT NULL::text, NULL::integer, NULL::bytea, NULL::boolean, before;
  END $$;
  `,
  (schema) => `
  /* An append of one event to a stream that is there, by far the most frequent: no arrays to write, read and join, and
     names of its own instead of a search path, which each call would have to set. Gives the position of the event;
     null when the stream is not where the caller believes, and nothing was written. */
  CREATE FUNCTION append_one(
    stream_name text, known integer, new_id text, new_type text, new_schema integer, new_data json,
    at text, new_metadata json, new_hash bytea, hash_before bytea
  ) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    done text := pg_advisory_xact_lock('${schema}.events'::regclass::oid::bigint)::text;
    given bigint;
  BEGIN
    WITH head AS (
      UPDATE ${schema}.streams SET version = known + 1, hash = new_hash, last_at = at
      WHERE name = stream_name AND version = known AND NOT deleted RETURNING id
    )
    INSERT INTO ${schema}.events
      (position, stream, version, id, type, schema, data, recorded_at, metadata, hash, previous_hash)
      SELECT
        1 + greatest(
          coalesce((SELECT max(position) FROM ${schema}.events), 0),
          (SELECT value::bigint FROM ${schema}.meta WHERE key = 'erased_through')),
        head.id, known + 1, new_id, new_type, new_schema, new_data, at, new_metadata, new_hash, hash_before
      FROM head
      RETURNING position INTO given;
    IF given IS NULL THEN RETURN NULL; END IF;
    done := pg_notify('threadfold', '${schema}')::text;
    RETURN given;
  END $$;
  `,
];

async function versionOf(client: PoolClient, schema: string): Promise<number> {
  const { rows } = await client.query("SELECT to_regclass($1) IS NOT NULL AS there", [`${schema}.meta`]);
  if (!rows[0]?.there) return 0;
  const found = await client.query(`SELECT value FROM ${schema}.meta WHERE key = 'schema'`);
  return Number(found.rows[0]?.value ?? 0);
}

function checkVersion(version: number, schema: string, where: string): void {
  if (version <= migrations.length) return;
  throw new LogFormatError(
    `${where}: schema "${schema}" has format ${version}, this Threadfold knows ${migrations.length}. A newer version wrote it; update Threadfold.`,
  );
}

async function checkServer(client: PoolClient, where: string): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding",
  );
  const { version, encoding } = rows[0];
  if (version < oldestServer) {
    throw new LogFormatError(
      `${where} is PostgreSQL ${Math.floor(version / 10_000)}, which is too old. Use version ${oldestServer / 10_000} or later.`,
    );
  }
  if (encoding !== "UTF8") {
    throw new LogFormatError(
      `${where} keeps its texts as ${encoding}, which cannot hold every character. Use a database with encoding UTF8.`,
    );
  }
}

/** Its statements name the schema as it is, so it must be a name that needs no quotes. */
async function checkName(client: PoolClient, schema: string, where: string): Promise<void> {
  const words = "SELECT FROM pg_get_keywords() WHERE word = $1 AND catcode IN ('R', 'T')";
  const { rows } = await client.query(words, [schema]);
  if (rows.length === 0) return;
  throw new StoreUrlError(
    `${where}: "${schema}" is a word of SQL. Use another name for the schema, like "${schema}_threads".`,
  );
}

async function migrate(client: PoolClient, schema: string, where: string): Promise<void> {
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [migrationLock, schema]);
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await client.query(`SET LOCAL search_path TO ${schema}`);
  await client.query("CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value text NOT NULL)");
  await client.query(
    "INSERT INTO meta VALUES ('schema', '0'), ('erased_through', '0') ON CONFLICT DO NOTHING",
  );
  const version = await versionOf(client, schema);
  checkVersion(version, schema, where);
  for (const migration of migrations.slice(version)) await client.query(migration(schema));
  await client.query("UPDATE meta SET value = $1 WHERE key = 'schema'", [String(migrations.length)]);
  await client.query("COMMIT");
}

/**
 * Connects, checks the server, and makes or updates the tables, so that wrong URLs and servers are met at once. A
 * server whose tables are up to date is only read.
 *
 * @throws {LogUnavailableError} @throws {LogFormatError} @throws {StoreUrlError} the schema is a word of SQL
 */
export async function preparePostgres(
  pool: Pool,
  schema: string,
  where: string,
  readOnly: boolean,
): Promise<void> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    await checkServer(client, where);
    await checkName(client, schema, where);
    const version = await versionOf(client, schema);
    checkVersion(version, schema, where);
    if (version < migrations.length) {
      if (readOnly) {
        throw new LogUnavailableError(
          `${where} has no store in schema "${schema}", or an old one, and was opened for reading only. Open it once for writing.`,
        );
      }
      await migrate(client, schema, where);
    }
    client.release();
  } catch (error) {
    client?.release(true);
    const isOurs = [LogFormatError, LogUnavailableError, StoreUrlError].some((kind) => error instanceof kind);
    throw isOurs ? error : translatePostgresError(error, where);
  }
}
