const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
];

/** A time for people: `3 minutes ago`; the ISO text in pipes and with `--utc`. */
export function shownTime(iso: string, options: { readonly utc: boolean; readonly now?: number }): string {
  if (options.utc) return iso;
  let amount = ((options.now ?? Date.now()) - Date.parse(iso)) / 1000;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
  for (const [unit, size] of steps) {
    if (Math.abs(amount) < size) return format.format(-Math.floor(amount), unit);
    amount /= size;
  }
  return format.format(-Math.floor(amount), "year");
}
