import { useState } from "react";
import { auditApi } from "../api/audit-api.ts";
import { RequestProblem } from "../api/request.ts";
import { saveAs } from "../chat/save-as.ts";
import { useWords } from "../i18n/language.ts";
import { Icon } from "../parts/icon.tsx";
import { usePlace } from "../place/place.ts";
import { useAccess } from "../shell/access.ts";
import { InertText } from "../text/inert-text.tsx";
import { useThreadView } from "../thread-view/use-thread.tsx";
import { auditWords } from "./words.ts";

/** Writes events to a file: those that fit the timeline's filters, or the whole thread. */
export function ExportEvents() {
  const words = useWords(auditWords);
  const { thread } = useThreadView();
  const { type, by, run, text } = usePlace();
  const access = useAccess();
  const [blobs, setBlobs] = useState(true);
  const [writing, setWriting] = useState(false);
  const [problem, setProblem] = useState<string>();
  const filters = [
    [words.filterType, type],
    [words.filterBy, by],
    [words.filterRun, run],
    [words.filterText, text],
  ].filter((one): one is [string, string] => one[1] !== undefined);
  const write = async (name: string, read: () => Promise<Blob>) => {
    setWriting(true);
    setProblem(undefined);
    try {
      saveAs(await read(), name);
    } catch (error) {
      setProblem(error instanceof RequestProblem ? error.message : String(error));
    }
    setWriting(false);
  };
  const base = thread.replace(/[^\w.-]/g, "_");
  const selected = (format: "ndjson" | "csv") =>
    write(`${base}-events.${format}`, () => auditApi.selection(thread, { format, type, by, run, text }));
  return (
    <section className="audit-card" aria-labelledby="audit-export" aria-busy={writing}>
      <h2 id="audit-export">{words.export}</h2>
      {filters.length === 0 ? (
        <p>{words.exportUnfiltered}</p>
      ) : (
        <div className="audit-filters">
          <span>{words.exportFiltered}</span>
          {filters.map(([name, value]) => (
            <span key={name} className="audit-filter">
              <span className="quiet">{name}</span> <InertText text={value} />
            </span>
          ))}
        </div>
      )}
      <div className="audit-actions">
        <button type="button" className="button" disabled={writing} onClick={() => void selected("ndjson")}>
          <Icon name="download" size={14} />
          {words.ndjson}
        </button>
        <button type="button" className="button" disabled={writing} onClick={() => void selected("csv")}>
          <Icon name="download" size={14} />
          {words.csv}
        </button>
      </div>
      {access?.scope === "admin" && (
        <>
          <h3>{words.whole}</h3>
          <p className="quiet">{words.wholeText}</p>
          <div className="audit-actions">
            <button
              type="button"
              className="button"
              disabled={writing}
              onClick={() => void write(`${base}.ndjson`, () => auditApi.exported(thread, blobs))}
            >
              <Icon name="download" size={14} />
              {words.wholeButton}
            </button>
            <label className="audit-choice">
              <input type="checkbox" checked={blobs} onChange={(event) => setBlobs(event.target.checked)} />
              {words.withBlobs}
            </label>
          </div>
        </>
      )}
      <p className="audit-status quiet" role="status">
        {writing ? words.exporting : ""}
      </p>
      {problem !== undefined && (
        <p className="form-problem" role="alert">
          <InertText text={problem} />
        </p>
      )}
    </section>
  );
}
