import { Fragment } from "react";
import { useWords } from "../i18n/language.ts";
import { Dialog } from "../parts/dialog.tsx";
import { useBoundKeys } from "./keys.ts";
import { keyWords } from "./words.ts";
import "./help-sheet.css";

const shownNames: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
};

/** All keys that work on the page as it is now. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const words = useWords(keyWords);
  const bound = useBoundKeys();
  const groups = [...new Set(bound.map(({ group }) => group))];
  return (
    <Dialog title={words.title} wide onClose={onClose}>
      <div className="help-groups">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {bound
                .filter((binding) => binding.group === group)
                .map(({ keys, does }) => (
                  <Fragment key={does}>
                    <dt>
                      {keys.map((key) => (
                        <kbd key={key}>{shownNames[key] ?? key}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </Fragment>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="quiet">{words.dialogs}</p>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}
