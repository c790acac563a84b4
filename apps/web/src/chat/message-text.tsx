import { useWords } from "../i18n/language.ts";
import { InertText } from "../text/inert-text.tsx";
import { chatWords } from "./words.ts";

type Piece =
  | { readonly kind: "prose"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly label: string };

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$/;

/** A text in prose and fenced code, the one part of Markdown whose lines would suffer from being set as prose. */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let open: { readonly mark: string; readonly label: string } | undefined;
  const close = () => {
    const joined = lines.join("\n");
    lines = [];
    if (open) pieces.push({ kind: "code", text: joined, label: open.label });
    else if (joined.trim() !== "") pieces.push({ kind: "prose", text: joined.replace(/^\n+|\s+$/g, "") });
  };
  for (const line of text.split(/\r?\n/)) {
    const [, mark, label = ""] = fence.exec(line) ?? [];
    const isEnd = open && mark?.startsWith(open.mark) && label.trim() === "";
    if (mark !== undefined && (isEnd || !open)) {
      close();
      open = isEnd ? undefined : { mark, label: label.trim().slice(0, 40) };
    } else lines.push(line);
  }
  close();
  return pieces;
}

/** What somebody said: prose and code, nothing of which is markup. */
export function MessageText({ text }: { readonly text: string }) {
  const words = useWords(chatWords);
  return piecesOf(text).map((piece, index) => {
    const key = `${index}-${piece.kind}`;
    if (piece.kind === "prose") return <InertText key={key} block links text={piece.text} />;
    return (
      <figure key={key} className="chat-code">
        <figcaption>
          <InertText text={piece.label === "" ? " " : piece.label} />
          <button
            type="button"
            className="icon-button small"
            onClick={() => void window.navigator.clipboard?.writeText(piece.text)}
          >
            {words.copy}
          </button>
        </figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard, too */}
        <pre tabIndex={0}>
          <InertText text={piece.text} />
        </pre>
      </figure>
    );
  });
}
