import { useEffect, useRef } from "react";
import { useValue } from "../api/value-store.ts";
import { theme } from "../shell/theme.ts";
import type { IndexedEvent } from "../thread-view/indexed-events.ts";
import { type EventFamily, kindOf } from "../timeline/event-kinds.ts";

const families: readonly EventFamily[] = ["thread", "run", "model", "tool", "message", "state"];
const stripHeight = 18;
/** Pixels between ticks, on average, below which none are drawn. */
const closestTicks = 5;

function draw(
  canvas: HTMLCanvasElement,
  events: readonly IndexedEvent[],
  turns: readonly number[],
  head: number,
): void {
  const width = canvas.clientWidth;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(stripHeight * scale);
  const context = canvas.getContext("2d");
  if (!context || width === 0 || head === 0) return;
  context.scale(scale, scale);
  const styles = getComputedStyle(canvas);
  const colours = new Map<string, string>(
    [...families.map((family) => `--family-${family}`), "--bad-text", "--text-quiet"].map((name) => [
      name,
      styles.getPropertyValue(name),
    ]),
  );
  const place = (version: number) => (version / head) * width;
  const barWidth = Math.max(1, Math.min(6, width / head - 1));
  let lastColumn = -1;
  for (const { version, type } of events) {
    const { family, tone } = kindOf(type);
    const column = Math.round(place(version));
    // One bar a pixel, but an error is never hidden behind its neighbours.
    if (column === lastColumn && tone !== "bad") continue;
    lastColumn = column;
    context.fillStyle = colours.get(tone === "bad" ? "--bad-text" : `--family-${family}`) ?? "gray";
    context.globalAlpha = tone === "bad" ? 1 : 0.55;
    context.fillRect(place(version) - barWidth / 2, 6, barWidth, 8);
  }
  context.globalAlpha = 1;
  context.fillStyle = colours.get("--text-quiet") ?? "gray";
  // A tick for each of very many turns would be a comb that says nothing.
  if (turns.length * closestTicks > width) return;
  for (const turn of turns) context.fillRect(Math.round(place(turn)), 0, 1, 5);
}

/** All events as a strip of colours, with a tick where each turn begins. What it shows is said by the slider. */
export function EventStrip({
  events,
  turns,
  head,
}: {
  readonly events: readonly IndexedEvent[];
  readonly turns: readonly number[];
  readonly head: number;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chosenTheme = useValue(theme);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the theme
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const again = () => draw(element, events, turns, head);
    again();
    const size = new ResizeObserver(again);
    size.observe(element);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", again);
    return () => {
      size.disconnect();
      dark.removeEventListener("change", again);
    };
  }, [events, turns, head, chosenTheme]);
  return (
    <span aria-hidden="true">
      <canvas ref={canvas} className="event-strip" />
    </span>
  );
}
