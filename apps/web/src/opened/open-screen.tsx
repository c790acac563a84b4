import { useWords } from "../i18n/language.ts";
import { FileChooser } from "./file-chooser.tsx";
import { openedWords } from "./words.ts";
import "../audit/audit.css";

/** Looks at a file when no thread is open. */
export function OpenScreen() {
  const words = useWords(openedWords);
  return (
    <div className="audit">
      <section className="audit-card open-screen" aria-labelledby="open-title">
        <h1 id="open-title">{words.title}</h1>
        <FileChooser />
      </section>
    </div>
  );
}
