import type { ReactNode } from "react";
import { safeHref, textPieces } from "./visible-text.ts";
import "./inert-text.css";

/** A link to another site: `http` or `https` only; anything else is shown as text. */
function SafeLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const safe = safeHref(href);
  if (safe === undefined) return <span>{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/**
 * Text that came from users, models and tools. It is never markup; characters that would not be seen, that turn the
 * direction of the text or steer a terminal are named in place.
 *
 * @param props.links makes `http` and `https` addresses links
 * @param props.block keeps line breaks
 */
export function InertText({
  text,
  links = false,
  block = false,
}: {
  readonly text: string;
  readonly links?: boolean;
  readonly block?: boolean;
}) {
  const pieces = textPieces(text, { links });
  const shown = pieces.map((piece, index) => {
    const key = `${index}-${piece.kind}`;
    if (piece.kind === "plain") return <bdi key={key}>{piece.text}</bdi>;
    if (piece.kind === "link") {
      return (
        <SafeLink key={key} href={piece.href}>
          {piece.text}
        </SafeLink>
      );
    }
    return (
      <span key={key} className="hidden-character" title={`${piece.label} ${piece.name}`}>
        {piece.label}
      </span>
    );
  });
  // One piece needs no element of its own.
  const [only] = pieces;
  const content = pieces.length === 1 && only?.kind === "plain" ? only.text : shown;
  return block ? (
    <div className="inert-block" dir="auto">
      {content}
    </div>
  ) : (
    <bdi className="inert-text">{content}</bdi>
  );
}
