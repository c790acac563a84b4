import { useState } from "react";
import { RequestProblem } from "../api/request.ts";
import { runApi } from "../api/run-api.ts";
import { useWords } from "../i18n/language.ts";
import { Icon } from "../parts/icon.tsx";
import { go } from "../place/place.ts";
import { useAccess, useMayChange } from "../shell/access.ts";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { Composer } from "./composer.tsx";
import { leaveFirstMessage } from "./first-message.ts";
import { chatWords } from "./words.ts";
import "./chat.css";

/** A thread that begins with a message. */
export function NewThread() {
  const words = useWords(chatWords);
  const access = useAccess();
  const mayChange = useMayChange();
  const [agent, setAgent] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const agents = access?.agents ?? [];
  const begin = async (text: string, files: readonly File[]) => {
    try {
      const chosen = agent ?? agents[0];
      const { thread_id: thread } = await runApi.createThread(
        chosen === undefined ? {} : { graph_id: chosen },
      );
      leaveFirstMessage({ thread, text, files });
      go({ thread, pane: "chat", screen: undefined });
      return true;
    } catch (error) {
      setProblem(error instanceof RequestProblem ? error.message : String(error));
      return false;
    }
  };
  return (
    <div className="new-thread">
      <h1>{words.newTitle}</h1>
      <p className="quiet">{words.newText}</p>
      {agents.length > 1 && (
        <label className="labelled">
          {words.agentLabel}
          <select
            className="field"
            value={agent ?? agents[0]}
            onChange={(event) => setAgent(event.target.value)}
          >
            {agents.map((name) => (
              <option key={name} value={name}>
                {visibleText(name)}
              </option>
            ))}
          </select>
        </label>
      )}
      {problem !== undefined && (
        <p className="form-problem" role="alert">
          <InertText text={problem} />
        </p>
      )}
      {mayChange ? (
        <Composer placeholder={words.placeholder} busy={false} onSend={begin} />
      ) : (
        access && (
          <p className="chat-note quiet">
            <Icon name="lock" size={13} />
            {words.readOnly}
          </p>
        )
      )}
    </div>
  );
}
