import { createValueStore, useValue } from "../api/value-store.ts";

export type Language = "en" | "zh";
/** A text, or how one is made of what is counted or named. */
type Word = string | ((...values: never[]) => string);

/** Texts of one part of the page in every language. */
export interface Words<Dictionary> {
  readonly en: Dictionary;
  readonly zh: Dictionary;
}

/**
 * Texts of one part of the page. A text that lacks its translation does not compile.
 *
 * @example
 * const words = defineWords({ more: (n: number) => `${n} more` }, { more: (n: number) => `还有 ${n} 条` });
 * useWords(words).more(3);
 */
export function defineWords<const Dictionary extends { readonly [key: string]: Word }>(
  en: Dictionary,
  zh: { readonly [Key in keyof Dictionary]: Dictionary[Key] extends string ? string : Dictionary[Key] },
): Words<{ readonly [Key in keyof Dictionary]: Dictionary[Key] extends string ? string : Dictionary[Key] }> {
  return { en: en as never, zh: zh as never };
}

const storageKey = "threadfold.language";

function preferred(): Language {
  const kept = window.localStorage.getItem(storageKey);
  if (kept === "en" || kept === "zh") return kept;
  return window.navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export const language = createValueStore<Language>(preferred());

/** Screen readers and fonts go by the language of the document. */
function mark(chosen: Language): void {
  document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
}
mark(language.get());

export function chooseLanguage(chosen: Language): void {
  window.localStorage.setItem(storageKey, chosen);
  mark(chosen);
  language.set(chosen);
}

/** The texts in the language that the reader chose. */
export function useWords<Dictionary>(words: Words<Dictionary>): Dictionary {
  return words[useValue(language)];
}

/** Tag for `Intl`: the reader's own variety of the language where the browser names one. */
export function localeOf(chosen: Language): string {
  const own = window.navigator.languages.find((tag) => tag.toLowerCase().startsWith(chosen));
  return own ?? (chosen === "zh" ? "zh-CN" : "en");
}
