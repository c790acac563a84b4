import type { RunningServer, StartServerOptions } from "../server/index.ts";

/** Ports that are tried after the default one when it is taken. */
const portsToTry = 20;

/** Starts a server on the default port, or on the next one that is free. */
export async function startOnFreePort(
  start: (options: StartServerOptions) => Promise<RunningServer>,
  options: StartServerOptions,
): Promise<RunningServer> {
  const { serverConfigSchema } = await import("../server/server-config.ts");
  const first = serverConfigSchema.shape.port.parse(undefined);
  for (let port = first; ; port++) {
    try {
      return await start({ ...options, port });
    } catch (error) {
      const isTaken = error instanceof Error && "path" in error && error.path === "port";
      if (!isTaken || port >= first + portsToTry) throw error;
    }
  }
}
