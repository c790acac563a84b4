import type { ComponentType } from "react";
import { defineWords, type Words } from "../i18n/language.ts";
import { lazyPart } from "../parts/lazy-part.tsx";

/** A tab of the inspector. It shows the open thread at the version of `useShownVersion`. */
export interface InspectorTab {
  /** Its name in the address. */
  readonly name: string;
  readonly title: Words<{ readonly title: string }>;
  /** Key that shows it. */
  readonly shortcut: string;
  readonly component: ComponentType;
}

/** All tabs, in their order. The first is shown when the address names none. */
export const inspectorTabs: readonly [InspectorTab, ...InspectorTab[]] = [
  {
    name: "state",
    title: defineWords({ title: "State" }, { title: "状态" }),
    shortcut: "s",
    component: lazyPart(async () => (await import("./state/state-tab.tsx")).StateTab),
  },
  {
    name: "diff",
    title: defineWords({ title: "Diff" }, { title: "差异" }),
    shortcut: "d",
    component: lazyPart(async () => (await import("./diff/diff-tab.tsx")).DiffTab),
  },
  {
    name: "event",
    title: defineWords({ title: "Event" }, { title: "事件" }),
    shortcut: "e",
    component: lazyPart(async () => (await import("./event/event-tab.tsx")).EventTab),
  },
  {
    name: "seen",
    title: defineWords({ title: "Seen" }, { title: "所见" }),
    shortcut: "i",
    component: lazyPart(async () => (await import("./seen/seen-tab.tsx")).SeenTab),
  },
  {
    name: "causation",
    title: defineWords({ title: "Causation" }, { title: "因果" }),
    shortcut: "w",
    component: lazyPart(async () => (await import("./causation/causation-tab.tsx")).CausationTab),
  },
  {
    name: "machine",
    title: defineWords({ title: "Machine" }, { title: "状态机" }),
    shortcut: "m",
    component: lazyPart(async () => (await import("./machine/machine-tab.tsx")).MachineTab),
  },
  {
    name: "branches",
    title: defineWords({ title: "Branches" }, { title: "分支" }),
    shortcut: "b",
    component: lazyPart(async () => (await import("./branches/branches-tab.tsx")).BranchesTab),
  },
];
