import { type ReactNode, useEffect, useId, useRef } from "react";
import "./dialog.css";

/**
 * A modal dialog: the browser keeps the focus inside and the rest of the page inert.
 *
 * @param props.onClose Esc, or a click beside it
 */
export function Dialog({
  title,
  children,
  wide = false,
  onClose,
}: {
  readonly title: string;
  readonly children: ReactNode;
  readonly wide?: boolean;
  readonly onClose?: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // The focus goes to the first control, which may be the last line: the reader begins at the top.
    if (element) element.scrollTop = 0;
    return () => element?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click beside the dialog only repeats what Esc does
    <dialog
      ref={dialog}
      className="dialog"
      data-wide={wide || undefined}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose?.();
      }}
    >
      <div className="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
