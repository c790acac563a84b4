import type { ReactNode } from "react";
import type { RequestProblem } from "../api/request.ts";
import { useWords } from "../i18n/language.ts";
import { shellWords } from "../shell/words.ts";
import { InertText } from "../text/inert-text.tsx";
import { Icon, type IconName } from "./icon.tsx";
import "./notices.css";

/** Something is being read. */
export function Loading() {
  const words = useWords(shellWords);
  return (
    <p className="notice loading" role="status">
      <span className="spinner" aria-hidden="true" />
      {words.loading}
    </p>
  );
}

/** Nothing is there, and that is fine. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="notice empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The server refused, in its own words. */
export function Failed({ problem }: { readonly problem: RequestProblem }) {
  const words = useWords(shellWords);
  return (
    <div className="notice failed" role="alert">
      <Icon name="warn" size={20} />
      <h2>{words.failedTitle}</h2>
      <p>
        <InertText text={problem.message} />
      </p>
    </div>
  );
}
