import Table from "cli-table3";
import type { Terminal } from "./terminal.ts";

/** A column of a list. */
export interface Column<Row> {
  readonly head: string;
  readonly text: (row: Row) => string;
  /** Colours the text on a screen. */
  readonly paint?: (text: string, row: Row) => string;
  /** Numbers stand at the right. */
  readonly right?: boolean;
  /** Columns of the screen at most; longer texts are cut. */
  readonly width?: number;
  /** Columns of the screen at least, so that the parts of a list that comes in parts line up. */
  readonly least?: number;
}

const borderless = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

function cut(text: string, width: number | undefined): string {
  const line = text.replace(/\s+/g, " ");
  return width !== undefined && [...line].length > width
    ? `${[...line].slice(0, width - 1).join("")}…`
    : line;
}

/** Rows as an aligned table on a screen, and as tab-separated lines in a pipe. */
export async function printRows<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { head = true }: { readonly head?: boolean } = {},
): Promise<void> {
  if (!terminal.screen) {
    for (const row of rows)
      await terminal.line(columns.map(({ text }) => cut(text(row), undefined)).join("\t"));
    return;
  }
  const { bold } = terminal.colors;
  const table = new Table({
    ...(head && { head: columns.map((column) => bold(column.head)) }),
    colAligns: columns.map(({ right }) => (right ? "right" : "left")),
    chars: borderless,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) {
    table.push(
      columns.map(({ text, paint, width, least = 0, right }) => {
        const fitted = cut(text(row), width);
        const shown = right ? fitted.padStart(least) : fitted.padEnd(least);
        return paint ? paint(shown, row) : shown;
      }),
    );
  }
  await terminal.line(table.toString().replaceAll(/[ \t]+$/gm, ""));
}
