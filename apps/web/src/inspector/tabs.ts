import { type ComponentType, lazy } from "react";
import { defineWords, type Words } from "../i18n/language.ts";

/** A tab of the inspector. It shows the open thread at the version of `useShownVersion`. */
export interface InspectorTab {
  /** Its name in the address. */
  readonly name: string;
  readonly title: Words<{ readonly title: string }>;
  /** Key that shows it. */
  readonly shortcut: string;
  readonly component: ComponentType;
}

/** Loads a tab when it is first shown. */
export function lazyTab(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => ({ default: await load() }));
}

/** All tabs, in their order. The first is shown when the address names none. */
export const inspectorTabs: readonly [InspectorTab, ...InspectorTab[]] = [
  {
    name: "state",
    title: defineWords({ title: "State" }, { title: "状态" }),
    shortcut: "s",
    component: lazyTab(async () => (await import("./state/state-tab.tsx")).StateTab),
  },
  {
    name: "event",
    title: defineWords({ title: "Event" }, { title: "事件" }),
    shortcut: "e",
    component: lazyTab(async () => (await import("./event/event-tab.tsx")).EventTab),
  },
];
