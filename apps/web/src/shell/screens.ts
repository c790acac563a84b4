import type { ComponentType } from "react";
import { defineWords, type Words } from "../i18n/language.ts";
import type { IconName } from "../parts/icon.tsx";
import { lazyPart } from "../parts/lazy-part.tsx";

/** Something that fills the page and needs no thread: the read models, a file that was dropped. */
export interface Screen {
  /** Its name in the address. */
  readonly name: string;
  readonly icon: IconName;
  readonly title: Words<{ readonly title: string }>;
  readonly component: ComponentType;
  /** It is of no use to who may only read. */
  readonly changes?: boolean;
}

/** All screens, in the order of their links in the bar. */
export const screens: readonly Screen[] = [
  {
    name: "new",
    changes: true,
    icon: "message",
    title: defineWords({ title: "New thread" }, { title: "新会话" }),
    component: lazyPart(async () => (await import("../chat/new-thread.tsx")).NewThread),
  },
  {
    name: "models",
    icon: "database",
    title: defineWords({ title: "Read models" }, { title: "读模型" }),
    component: lazyPart(async () => (await import("../read-models/read-models.tsx")).ReadModels),
  },
  {
    name: "open",
    icon: "upload",
    title: defineWords({ title: "Open a file" }, { title: "打开文件" }),
    component: lazyPart(async () => (await import("../opened/open-screen.tsx")).OpenScreen),
  },
];
