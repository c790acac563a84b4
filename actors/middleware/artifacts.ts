import { ArtifactsPresented } from "../../events/artifacts.ts";
import { artifacts } from "../../reducers/artifacts.ts";
import { presentFilesTool } from "../tools/present-files.ts";
import type { FileToolOptions } from "../tools/tool-sandbox.ts";
import { createMiddleware, type Middleware } from "./define-middleware.ts";

/**
 * Files for the user: the field `artifacts` and the tool `present_files`.
 *
 * @example
 * createAgent({ model, tools: fileTools(), middleware: [sandboxMiddleware(), artifactsMiddleware()] });
 */
export function artifactsMiddleware(options: FileToolOptions = {}): Middleware {
  return createMiddleware({
    name: "artifacts",
    events: [ArtifactsPresented],
    reducers: [artifacts],
    tools: [presentFilesTool(options)],
  });
}
