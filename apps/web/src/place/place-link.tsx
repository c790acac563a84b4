import type { MouseEvent, ReactNode } from "react";
import { go, hrefOf, type PlaceChange, usePlace } from "./place.ts";

/** A link to another place of the page: it can be opened in a new tab and copied like any other. */
export function PlaceLink({
  to,
  children,
  className,
  current,
  title,
}: {
  readonly to: PlaceChange;
  readonly children: ReactNode;
  readonly className?: string;
  /** It leads to what is shown. */
  readonly current?: "page" | "true";
  readonly title?: string;
}) {
  // The address depends on where the page is.
  usePlace();
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={hrefOf(to)} className={className} aria-current={current} title={title} onClick={follow}>
      {children}
    </a>
  );
}
