import type { ComponentType } from "react";
import { defineWords, type Words } from "../i18n/language.ts";
import type { IconName } from "../parts/icon.tsx";
import { lazyPart } from "../parts/lazy-part.tsx";
import { Timeline } from "../timeline/timeline.tsx";

/** Something that stands in the middle of the page and shows the open thread. */
export interface Pane {
  /** Its name in the address. */
  readonly name: string;
  readonly icon: IconName;
  readonly title: Words<{ readonly title: string }>;
  /** Key that shows it. */
  readonly shortcut: string;
  readonly component: ComponentType;
}

/** All panes, in the order of their buttons. The first is shown when the address names none. */
export const panes: readonly [Pane, ...Pane[]] = [
  {
    name: "timeline",
    icon: "list",
    title: defineWords({ title: "Timeline" }, { title: "时间线" }),
    shortcut: "t",
    component: Timeline,
  },
  {
    name: "chat",
    icon: "message",
    title: defineWords({ title: "Chat" }, { title: "对话" }),
    shortcut: "c",
    component: lazyPart(async () => (await import("../chat/chat.tsx")).Chat),
  },
  {
    name: "audit",
    icon: "shield",
    title: defineWords({ title: "Audit" }, { title: "审计" }),
    shortcut: "a",
    component: lazyPart(async () => (await import("../audit/audit.tsx")).Audit),
  },
];
