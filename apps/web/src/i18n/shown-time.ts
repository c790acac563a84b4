import { useEffect, useState } from "react";
import { useValue } from "../api/value-store.ts";
import { type Language, language, localeOf } from "./language.ts";

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Keeps what is made for a key: formats cost much more to make than to use. */
function kept<Format>(make: (locale: string, variant: string) => Format) {
  const made = new Map<string, Format>();
  return (chosen: Language, variant = ""): Format => {
    const key = `${chosen}:${variant}`;
    const format = made.get(key) ?? make(localeOf(chosen), variant);
    made.set(key, format);
    return format;
  };
}

const relativeFormat = kept(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }),
);
const numberFormat = kept((locale) => {
  const format = new Intl.NumberFormat(locale);
  return (value: number) => format.format(value);
});
const clockFormat = kept(
  (locale, variant) =>
    new Intl.DateTimeFormat(locale, {
      ...(variant !== "today" && { month: "short", day: "numeric" }),
      ...(variant === "another year" && { year: "numeric" }),
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    }),
);

/** "3 minutes ago"; `time` and `now` in milliseconds since 1970. */
export function relativeTime(time: number, now: number, chosen: Language): string {
  const format = relativeFormat(chosen);
  // Clocks differ a little, and nothing of a log is in the future.
  const passed = Math.min(0, time - now);
  for (const [unit, ms] of steps)
    if (Math.abs(passed) >= ms) return format.format(Math.round(passed / ms), unit);
  return format.format(Math.round(passed / 1_000), "second");
}

/** Date and time to the second in the reader's zone, without the date when it is today. */
export function clockTime(time: number, now: number, chosen: Language): string {
  const [day, today] = [new Date(time), new Date(now)];
  const isThisYear = day.getFullYear() === today.getFullYear();
  const isToday = isThisYear && day.getMonth() === today.getMonth() && day.getDate() === today.getDate();
  return clockFormat(chosen, isToday ? "today" : isThisYear ? "this year" : "another year").format(time);
}

/** `1,234` */
export function useNumber(): (value: number) => string {
  return numberFormat(useValue(language));
}

const spanUnits = {
  en: { ms: " ms", s: " s", min: " min", h: " h" },
  zh: { ms: " 毫秒", s: " 秒", min: " 分", h: " 小时" },
} as const satisfies Record<Language, unknown>;

/** Length of a time span: `340 ms`, `2.1 s`, `3 min 4 s`, `5 h 6 min`. */
function shownDuration(ms: number, chosen: Language): string {
  const { ms: short, s, min, h } = spanUnits[chosen];
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole}${short}`;
  if (whole < 59_950) return `${(whole / 1_000).toFixed(1)}${s}`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}${min} ${seconds % 60}${s}`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}${h} ${minutes % 60}${min}`;
}

/** `shownDuration` in the language of the page. */
export function useDuration(): (ms: number) => string {
  const chosen = useValue(language);
  return (ms) => shownDuration(ms, chosen);
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
