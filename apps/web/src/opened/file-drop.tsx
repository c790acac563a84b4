import { useEffect, useState } from "react";
import { isOpenedFile } from "../api/audit-api.ts";
import { useValue } from "../api/value-store.ts";
import { useWords } from "../i18n/language.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { nameOfOpenedFile, openFile, opening } from "./open-file.ts";
import { openedWords } from "./words.ts";
import "./file-drop.css";

const carriesFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;

/** Files that are dropped on the page are opened, and not gone to. */
export function FileDrop() {
  const words = useWords(openedWords);
  const [over, setOver] = useState(false);
  const now = useValue(opening);
  useEffect(() => {
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      depth -= 1;
      if (depth <= 0) setOver(false);
    };
    const hover = (event: DragEvent) => {
      if (carriesFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      depth = 0;
      setOver(false);
      if (!carriesFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      const [file, ...more] = event.dataTransfer?.files ?? [];
      if (more.length > 0) opening.set({ kind: "refused", name: "", reason: words.tooMany });
      else if (file) void openFile(file);
    };
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("dragover", hover);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("dragover", hover);
      window.removeEventListener("drop", drop);
    };
  }, [words]);
  return (
    <>
      {over && (
        <div className="file-drop" aria-hidden="true">
          <Icon name="upload" size={32} />
          {words.dropHere}
        </div>
      )}
      {now?.kind === "refused" && (
        <Dialog title={words.notOpened} onClose={() => opening.set(undefined)}>
          <div className="refused-file">
            {now.name !== "" && (
              <p className="mono">
                <InertText text={now.name} />
              </p>
            )}
            <p role="alert">
              <InertText text={now.reason} />
            </p>
          </div>
          <div className="dialog-actions">
            <button type="button" className="button primary" onClick={() => opening.set(undefined)}>
              OK
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Says that the page shows a file. */
export function OpenedFileBadge() {
  const words = useWords(openedWords);
  if (!isOpenedFile()) return null;
  const name = nameOfOpenedFile() ?? words.someFile;
  return (
    <span className="badge opened-badge" title={visibleText(words.shown(name))}>
      <Icon name="file" size={13} />
      <span className="opened-name">
        <InertText text={name} />
      </span>
      <a href="../../">{words.back}</a>
    </span>
  );
}
