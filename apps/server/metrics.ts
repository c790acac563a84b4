import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** What a server counts. */
export interface ServerMetrics {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "route" | "status">;
  readonly requestSeconds: Histogram<"method" | "route">;
  readonly runs: Counter<"graph" | "status">;
  readonly openStreams: Gauge;
}

/**
 * Metrics of one server in a registry of their own.
 *
 * @param openRuns gives the number of runs that are open or stand in line
 */
export function createMetrics(openRuns: () => number): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "threadfold_runs_open",
    help: "Runs that are open or stand in line in this process",
    registers,
    collect() {
      this.set(openRuns());
    },
  });
  return {
    registry,
    requests: new Counter({
      name: "threadfold_http_requests_total",
      help: "Requests that were answered",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "threadfold_http_request_seconds",
      help: "Seconds until the head of the answer",
      labelNames: ["method", "route"],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    }),
    runs: new Counter({
      name: "threadfold_runs_total",
      help: "Runs that ended in this process",
      labelNames: ["graph", "status"],
      registers,
    }),
    openStreams: new Gauge({
      name: "threadfold_streams_open",
      help: "Event streams that clients hold open",
      registers,
    }),
  };
}
