import { useRef } from "react";
import { useValue } from "../api/value-store.ts";
import { useWords } from "../i18n/language.ts";
import { Icon } from "../parts/icon.tsx";
import { visibleText } from "../text/visible-text.ts";
import { openFile, opening } from "./open-file.ts";
import { openedWords } from "./words.ts";

/** Chooses a file to look at, for those who do not drop one. */
export function FileChooser() {
  const words = useWords(openedWords);
  const chooser = useRef<HTMLInputElement>(null);
  const now = useValue(opening);
  return (
    <div className="file-chooser">
      <p>{words.text}</p>
      <p className="quiet">{words.local}</p>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label={words.choose}
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) void openFile(file);
          event.target.value = "";
        }}
      />
      <div className="file-chooser-actions">
        <button type="button" className="button" onClick={() => chooser.current?.click()}>
          <Icon name="upload" size={14} />
          {words.choose}
        </button>
        <span className="quiet" role="status">
          {now?.kind === "opening" ? words.opening(visibleText(now.name)) : words.drop}
        </span>
      </div>
    </div>
  );
}
