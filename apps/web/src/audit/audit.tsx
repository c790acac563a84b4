import { isOpenedFile } from "../api/audit-api.ts";
import { useWords } from "../i18n/language.ts";
import { FileChooser } from "../opened/file-chooser.tsx";
import { Icon } from "../parts/icon.tsx";
import { PlaceLink } from "../place/place-link.tsx";
import { ExportEvents } from "./export-events.tsx";
import { Integrity } from "./integrity.tsx";
import { auditWords } from "./words.ts";
import "./audit.css";

/** Whether the record of the open thread can be relied on, and the ways to take it along. */
export function Audit() {
  const words = useWords(auditWords);
  return (
    <div className="audit">
      <Integrity />
      <ExportEvents />
      <section className="audit-card" aria-labelledby="audit-open">
        <h2 id="audit-open">{words.openTitle}</h2>
        <FileChooser />
      </section>
      {!isOpenedFile() && (
        <section className="audit-card" aria-labelledby="audit-models">
          <h2 id="audit-models">{words.models}</h2>
          <p>{words.modelsText}</p>
          <div className="audit-actions">
            <PlaceLink className="button" to={{ screen: "models" }}>
              <Icon name="database" size={14} />
              {words.modelsOpen}
            </PlaceLink>
          </div>
        </section>
      )}
    </div>
  );
}
