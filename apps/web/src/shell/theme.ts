import { createValueStore } from "../api/value-store.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "threadfold.theme";

function kept(): Theme {
  const value = window.localStorage.getItem(storageKey);
  return themes.find((theme) => theme === value) ?? "system";
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export const theme = createValueStore<Theme>(kept());
apply(theme.get());

export function chooseTheme(chosen: Theme): void {
  window.localStorage.setItem(storageKey, chosen);
  apply(chosen);
  theme.set(chosen);
}
