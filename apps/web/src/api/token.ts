import { createValueStore } from "./value-store.ts";

const storageKey = "threadfold.token";

/** A question for the token: shown as a dialog while it is there. `refused`: the last one was not accepted. */
export const tokenQuestion = createValueStore<{ readonly refused: boolean } | undefined>(undefined);

/** The token lives as long as the tab: never in an address, a log or on disk. */
export function tokenNow(): string | undefined {
  return window.sessionStorage.getItem(storageKey) ?? undefined;
}

let answer: ((token: string) => void) | undefined;
let asked: Promise<string> | undefined;

/**
 * Asks for a token. Requests that are refused at the same time wait for the same answer.
 *
 * @param used the token that was refused; when another one is known by now, it is given at once
 */
export function askForToken(used: string | undefined): Promise<string> {
  const known = tokenNow();
  if (known !== undefined && known !== used) return Promise.resolve(known);
  if (!asked) {
    tokenQuestion.set({ refused: used !== undefined });
    asked = new Promise((resolve) => {
      answer = resolve;
    });
  }
  return asked;
}

/** The answer of the dialog. */
export function giveToken(token: string): void {
  window.sessionStorage.setItem(storageKey, token);
  tokenQuestion.set(undefined);
  answer?.(token);
  asked = answer = undefined;
}
