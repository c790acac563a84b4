import { useEffect, useState } from "react";
import { logApi } from "../api/log-api.ts";
import { useWords } from "../i18n/language.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Failed, Loading } from "../parts/notices.tsx";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useReading } from "../thread-view/use-reading.ts";
import { useSize } from "../value/shown-size.ts";
import { saveAs } from "./save-as.ts";
import { chatWords } from "./words.ts";

/** Pictures that browsers show without running anything in them. An SVG is not among them: it is shown as its source. */
const pictures: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};
const shownCharacters = 20_000;
/** Bytes of a file that are read for a preview as text. */
const maxPreviewBytes = 2_000_000;

const nameOfPath = (path: string) => path.split("/").at(-1) ?? path;

/** The bytes of a file as text; undefined: they are none. */
async function textOf(bytes: Blob): Promise<string | undefined> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(
      await bytes.slice(0, maxPreviewBytes).arrayBuffer(),
      { stream: bytes.size > maxPreviewBytes },
    );
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

function Picture({
  bytes,
  type,
  name,
}: {
  readonly bytes: Blob;
  readonly type: string;
  readonly name: string;
}) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return url === undefined ? null : <img className="artifact-picture" src={url} alt={visibleText(name)} />;
}

function Preview({ thread, path }: { readonly thread: string; readonly path: string }) {
  const words = useWords(chatWords);
  const size = useSize();
  const [shown, setShown] = useState(shownCharacters);
  const name = nameOfPath(path);
  const picture = pictures[name.split(".").at(-1)?.toLowerCase() ?? ""];
  const { value, problem } = useReading(path, async (signal) => {
    const bytes = await logApi.artifact(thread, path, { signal });
    return { bytes, text: picture === undefined ? await textOf(bytes) : undefined };
  });
  if (problem) return <Failed problem={problem} />;
  if (!value) return <Loading />;
  const { bytes, text } = value;
  return (
    <>
      <p className="artifact-facts quiet">
        <span className="mono">
          <InertText text={path} />
        </span>
        <span>{size(bytes.size)}</span>
        <button type="button" className="button small" onClick={() => saveAs(bytes, name)}>
          <Icon name="download" size={13} />
          {words.download}
        </button>
      </p>
      {picture !== undefined && <Picture bytes={bytes} type={picture} name={name} />}
      {picture === undefined && text === undefined && <p>{words.noPreview}</p>}
      {text !== undefined && (
        <>
          {/\.(?:html?|svg|xhtml|xml|md)$/i.test(name) && <p className="quiet">{words.sourceOnly}</p>}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long texts are scrolled with the keyboard, too */}
          <section className="artifact-text" tabIndex={0} aria-label={visibleText(name)}>
            <InertText block text={text.slice(0, shown)} />
            {text.length > shown && (
              <button
                type="button"
                className="button small"
                onClick={() => setShown(shown + 5 * shownCharacters)}
              >
                {words.moreText}
              </button>
            )}
          </section>
        </>
      )}
    </>
  );
}

/** Files that the agent presented. They are shown as what they are made of: nothing in them runs. */
export function Artifacts({ thread, paths }: { readonly thread: string; readonly paths: readonly string[] }) {
  const words = useWords(chatWords);
  const [open, setOpen] = useState<string>();
  if (paths.length === 0) return null;
  return (
    <section className="chat-artifacts" aria-label={words.files}>
      <h2>{words.files}</h2>
      <ul className="chat-files">
        {paths.map((path) => (
          <li key={path}>
            <button
              type="button"
              className="chat-file"
              title={visibleText(path)}
              aria-label={words.open(visibleText(nameOfPath(path)))}
              onClick={() => setOpen(path)}
            >
              <Icon name="file" size={13} />
              <InertText text={nameOfPath(path)} />
            </button>
          </li>
        ))}
      </ul>
      {open !== undefined && (
        <Dialog title={visibleText(nameOfPath(open))} onClose={() => setOpen(undefined)}>
          <div className="artifact-preview">
            <Preview thread={thread} path={open} />
          </div>
          <div className="dialog-actions">
            <button type="button" className="button" onClick={() => setOpen(undefined)}>
              {words.close}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
