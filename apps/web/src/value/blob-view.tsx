import { useEffect, useState } from "react";
import { logApi } from "../api/log-api.ts";
import { RequestProblem } from "../api/request.ts";
import { useWords } from "../i18n/language.ts";
import { Icon } from "../parts/icon.tsx";
import { InertText } from "../text/inert-text.tsx";
import { useSize } from "./shown-size.ts";
import { valueWords } from "./words.ts";

/** A reference to bytes that are kept apart from the events. */
export interface BlobReference {
  readonly sha256: string;
  readonly mimeType: string;
  readonly size: number;
}

/** The reference that a value is or holds; undefined: it is none. */
export function blobReferenceOf(value: unknown): BlobReference | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { sha256, mimeType, mime_type: other, size } = value as Readonly<Record<string, unknown>>;
  const type = typeof mimeType === "string" ? mimeType : other;
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256) || typeof type !== "string")
    return undefined;
  return { sha256, mimeType: type, size: typeof size === "number" ? size : 0 };
}

/** Types that are shown as a picture. An SVG is a document that could do things, so it is not. */
const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** Characters of a text that are put on the page at once. */
const shownCharacters = 20_000;

type Loaded =
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "text"; readonly text: string };

/** Bytes by reference: what they are, and on a click the picture or the text itself. */
export function BlobView({ thread, blob }: { readonly thread: string; readonly blob: BlobReference }) {
  const words = useWords(valueWords);
  const size = useSize();
  const [loaded, setLoaded] = useState<Loaded>();
  const [problem, setProblem] = useState<string>();
  const [shown, setShown] = useState(shownCharacters);
  const isPicture = pictures.has(blob.mimeType);
  const isText = blob.mimeType.startsWith("text/") || blob.mimeType === "application/json";
  useEffect(() => {
    if (loaded?.kind !== "image") return;
    return () => URL.revokeObjectURL(loaded.url);
  }, [loaded]);
  const load = async () => {
    try {
      const bytes = await logApi.blob(thread, blob.sha256);
      if (isPicture) {
        const url = URL.createObjectURL(new Blob([bytes], { type: blob.mimeType }));
        setLoaded({ kind: "image", url });
      } else setLoaded({ kind: "text", text: await bytes.text() });
    } catch (error) {
      setProblem(error instanceof RequestProblem ? error.message : String(error));
    }
  };
  if (problem !== undefined) {
    return (
      <p className="form-problem" role="alert">
        <InertText text={problem} />
      </p>
    );
  }
  if (loaded?.kind === "image") {
    return <img className="blob-image" src={loaded.url} alt={`${words.image} ${blob.sha256.slice(0, 12)}`} />;
  }
  if (loaded?.kind === "text") {
    return (
      <div className="blob-text">
        <InertText block text={loaded.text.slice(0, shown)} />
        {loaded.text.length > shown && (
          <button type="button" className="button" onClick={() => setShown(shown + 5 * shownCharacters)}>
            {words.moreText}
          </button>
        )}
      </div>
    );
  }
  return (
    <span className="blob-reference">
      <span className="quiet mono">
        <InertText text={blob.mimeType} /> · {size(blob.size)} · {blob.sha256.slice(0, 12)}…
      </span>
      {(isPicture || isText) && (
        <button type="button" className="button small" onClick={() => void load()}>
          <Icon name={isPicture ? "image" : "file"} size={14} />
          {isPicture ? words.showImage(size(blob.size)) : words.showContent(size(blob.size))}
        </button>
      )}
    </span>
  );
}
