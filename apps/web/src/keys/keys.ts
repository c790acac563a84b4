import { useEffect, useRef } from "react";
import { createValueStore, useValue } from "../api/value-store.ts";

/** A key of the page, as the help sheet lists it. */
export interface KeyBinding {
  /** `KeyboardEvent.key`; several keys may do the same. */
  readonly keys: readonly string[];
  /** What it does, in the reader's language. */
  readonly does: string;
  /** Heading in the help sheet. */
  readonly group: string;
}

interface Registered extends KeyBinding {
  readonly run: () => void;
}

const registered = createValueStore<readonly Registered[]>([]);

/** Keys that work now. */
export function useBoundKeys(): readonly KeyBinding[] {
  return useValue(registered);
}

/** True where letters are typed or a widget has keys of its own. */
function takesKeys(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("input, textarea, select") !== null) return true;
  const isArrow = key.startsWith("Arrow") || key === "Home" || key === "End";
  if (isArrow && target.closest("[role=tab], [role=slider], [role=tree], [role=separator]") !== null)
    return true;
  return key === " " && target.closest("button, a, summary, [role=button]") !== null;
}

if (typeof window !== "undefined") {
  window.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") !== null || takesKeys(event.target, event.key)) return;
    // The last one that was bound stands in front.
    const binding = registered.get().findLast(({ keys }) => keys.includes(event.key));
    if (!binding) return;
    event.preventDefault();
    binding.run();
  });
}

/** Binds keys while the component is shown. They rest while something is typed or a dialog is open. */
export function useKeys(bindings: readonly (KeyBinding & { readonly run: () => void })[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  const names = JSON.stringify(bindings.map(({ keys, does, group }) => [keys, does, group]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the bindings do is looked up when a key is pressed
  useEffect(() => {
    const own = latest.current.map((binding, index) => ({
      ...binding,
      run: () => latest.current[index]?.run(),
    }));
    registered.set([...registered.get(), ...own]);
    return () => registered.set(registered.get().filter((one) => !own.includes(one)));
  }, [names]);
}
