import { useValue } from "../api/value-store.ts";
import { type Language, language, localeOf } from "../i18n/language.ts";

const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** `1.2 MB`; `size` in bytes. */
function shownSize(size: number, chosen: Language): string {
  let value = size;
  let step = 0;
  while (value >= 1_000 && step < units.length - 1) {
    value /= 1_000;
    step += 1;
  }
  return new Intl.NumberFormat(localeOf(chosen), {
    style: "unit",
    unit: units[step] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: step === 0 || value >= 100 ? 0 : 1,
  }).format(value);
}

/** `shownSize` in the reader's language. */
export function useSize(): (size: number) => string {
  const chosen = useValue(language);
  return (size) => shownSize(size, chosen);
}
