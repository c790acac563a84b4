/**
 * What the next calls meet, in order: `lose-acknowledgement` writes and breaks the connection without an answer,
 * `hang` never answers, `not-leader` sends the client to this same server, `close-in-batch` ends the stream of appends
 * as if all were well, without writing; with `disk-full` the server ends its process without an answer and without
 * writing (StorageWriterService.cs: "Unexpected error … Terminating the process").
 */
type AppendFault = "lose-acknowledgement" | "hang" | "not-leader" | "close-in-batch" | "disk-full";
type ReadFault = "hang" | "unavailable";

export interface Faults {
  readonly appends: AppendFault[];
  readonly reads: ReadFault[];
  readonly tombstones: "unavailable"[];
}
