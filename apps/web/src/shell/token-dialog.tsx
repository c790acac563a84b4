import { type FormEvent, useState } from "react";
import { giveToken, tokenQuestion } from "../api/token.ts";
import { useValue } from "../api/value-store.ts";
import { useWords } from "../i18n/language.ts";
import { Dialog } from "../parts/dialog.tsx";
import { shellWords } from "./words.ts";

/** Asks for the token while a request waits for one. */
export function TokenDialog() {
  const words = useWords(shellWords);
  const question = useValue(tokenQuestion);
  const [token, setToken] = useState("");
  if (!question) return null;
  const send = (event: FormEvent) => {
    event.preventDefault();
    const given = token.trim();
    if (given === "") return;
    setToken("");
    giveToken(given);
  };
  return (
    <Dialog title={words.tokenTitle}>
      <form onSubmit={send}>
        <p className="quiet">{words.tokenText}</p>
        {question.refused && (
          <p className="form-problem" role="alert">
            {words.tokenRefused}
          </p>
        )}
        <label className="labelled">
          {words.tokenLabel}
          <input
            className="field"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <div className="dialog-actions">
          <button type="submit" className="button primary">
            {words.tokenSend}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
