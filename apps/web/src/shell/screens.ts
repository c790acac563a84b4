import type { ComponentType } from "react";
import type { Words } from "../i18n/language.ts";
import type { IconName } from "../parts/icon.tsx";

/** Something that fills the page and needs no thread: the read models, a file that was dropped. */
export interface Screen {
  /** Its name in the address. */
  readonly name: string;
  readonly icon: IconName;
  readonly title: Words<{ readonly title: string }>;
  readonly component: ComponentType;
}

/** All screens, in the order of their links in the bar. */
export const screens: readonly Screen[] = [];
