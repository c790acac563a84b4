import { type DragEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { useWords } from "../i18n/language.ts";
import { useKeys } from "../keys/keys.ts";
import { Icon } from "../parts/icon.tsx";
import { InertText } from "../text/inert-text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useSize } from "../value/shown-size.ts";
import { chatWords } from "./words.ts";

/** Where messages are written, with files beside them. */
export function Composer({
  placeholder,
  busy,
  onSend,
  onStop,
}: {
  readonly placeholder: string;
  /** A run goes on: it can be stopped, and the next message waits until it is over. */
  readonly busy: boolean;
  /** Resolves to true when the message is on its way, so that its text is not needed any more. */
  readonly onSend: (text: string, files: readonly File[]) => Promise<boolean>;
  readonly onStop?: () => Promise<void>;
}) {
  const words = useWords(chatWords);
  const size = useSize();
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly File[]>([]);
  const [sending, setSending] = useState(false);
  const [stopping, setStopping] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const id = useId();
  useKeys([{ keys: ["n"], does: words.keyWrite, group: words.group, run: () => field.current?.focus() }]);

  const isEmpty = text.trim() === "" && files.length === 0;
  const send = async () => {
    if (isEmpty || busy || sending) return;
    setSending(true);
    const isSent = await onSend(text, files);
    setSending(false);
    if (!isSent) return;
    setText("");
    setFiles([]);
    field.current?.focus();
  };
  const stop = async () => {
    setStopping(true);
    await onStop?.();
    setStopping(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While characters are put together the key belongs to the input method.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const add = (list: FileList | null) => {
    const names = new Set([...(list ?? [])].map(({ name }) => name));
    setFiles([...files.filter(({ name }) => !names.has(name)), ...(list ?? [])]);
  };
  const drop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return;
    // Otherwise the page would open it as an export.
    event.preventDefault();
    add(event.dataTransfer.files);
  };
  return (
    <form
      className="composer"
      onDrop={drop}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {files.length > 0 && (
        <ul className="chat-files">
          {files.map((file) => (
            <li key={file.name} className="chat-file">
              <Icon name="file" size={13} />
              <InertText text={file.name} />
              <span className="quiet">{size(file.size)}</span>
              <button
                type="button"
                className="icon-button"
                aria-label={words.removeFile(visibleText(file.name))}
                onClick={() => setFiles(files.filter((one) => one !== file))}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <label className="visually-hidden" htmlFor={id}>
        {words.message}
      </label>
      <textarea
        id={id}
        ref={field}
        className="composer-field"
        dir="auto"
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData.files.length > 0) add(event.clipboardData.files);
        }}
      />
      <div className="composer-bar">
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label={words.attach}
          onChange={(event) => {
            add(event.target.files);
            event.target.value = "";
          }}
        />
        <button type="button" className="icon-button" onClick={() => chooser.current?.click()}>
          <Icon name="clip" size={15} />
          {words.attach}
        </button>
        {busy && onStop ? (
          <button type="button" className="button stop" disabled={stopping} onClick={() => void stop()}>
            <Icon name="stop" size={14} />
            {stopping ? words.stopping : words.stop}
          </button>
        ) : (
          <button type="submit" className="button primary" disabled={isEmpty || busy || sending}>
            <Icon name="send" size={14} />
            {sending ? words.sending : words.send}
          </button>
        )}
      </div>
    </form>
  );
}
