import { defineProjection, type Projection } from "../../projections/define-projection.ts";

export interface CountedTitle {
  readonly titles: number;
  readonly last: string | null;
  readonly version: number;
}

/** A small projection whose rows tell which version of it made them. */
export function countedTitles(version: number): Projection<CountedTitle> {
  return defineProjection<CountedTitle>({
    name: "counted-titles",
    version,
    handlers: {
      TitleSet(rows, event) {
        const before = rows.get(event.stream);
        rows.put(event.stream, { titles: (before?.titles ?? 0) + 1, last: event.data.title, version });
      },
    },
  });
}
