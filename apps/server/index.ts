export { type Access, hashToken } from "./access.ts";
export { type Scope, type ServerConfig, ServerConfigError, type ServerConfigInput } from "./server-config.ts";
export { type RunningServer, type StartServerOptions, startServer } from "./start-server.ts";
