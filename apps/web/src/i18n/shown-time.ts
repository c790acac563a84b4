import { useEffect, useState } from "react";
import { useValue } from "../api/value-store.ts";
import { type Language, language, localeOf } from "./language.ts";

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** "3 minutes ago"; `time` and `now` in milliseconds since 1970. */
export function relativeTime(time: number, now: number, chosen: Language): string {
  const format = new Intl.RelativeTimeFormat(localeOf(chosen), { numeric: "auto", style: "short" });
  const passed = time - now;
  for (const [unit, ms] of steps)
    if (Math.abs(passed) >= ms) return format.format(Math.round(passed / ms), unit);
  return format.format(Math.round(passed / 1_000), "second");
}

/** Date and time to the second in the reader's zone, without the date when it is today. */
export function clockTime(time: number, now: number, chosen: Language): string {
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(localeOf(chosen), {
    ...(!isToday && { month: "short", day: "numeric" }),
    ...(!isThisYear && { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).format(time);
}

/** `1,234` */
export function useNumber(): (value: number) => string {
  const format = new Intl.NumberFormat(localeOf(useValue(language)));
  return (value) => format.format(value);
}

/** Length of a time span: `340 ms`, `2.1 s`, `3 min 4 s`. */
export function shownDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** Milliseconds since 1970, again every half minute, so that "2 minutes ago" stays true. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 30_000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
