import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { ServerEnv } from "./access.ts";
import type { Served } from "./served.ts";

/** Counts, times, logs and traces every request. Nothing of its content is written down. */
export function observeRequests(served: Pick<Served, "logger" | "metrics">): MiddlewareHandler<ServerEnv> {
  const { logger, metrics } = served;
  const tracer = trace.getTracer("threadfold");
  return async (c, next) => {
    const { method, path } = c.req;
    const begun = performance.now();
    const parent = propagation.extract(context.active(), c.req.header());
    const span = tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { "http.request.method": method, "url.path": path } },
      parent,
    );
    await context.with(trace.setSpan(parent, span), next);
    const { status } = c.res;
    const route = routePath(c, -1);
    const seconds = (performance.now() - begun) / 1000;
    metrics.requests.inc({ method, route, status: String(status) });
    metrics.requestSeconds.observe({ method, route }, seconds);
    span.updateName(`${method} ${route}`);
    span.setAttributes({ "http.route": route, "http.response.status_code": status });
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    logger.info({ method, path, status, ms: Math.round(seconds * 1000) }, "request");
  };
}
