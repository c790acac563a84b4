import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>> = {
  darwin: ["open"],
  // `start` takes its first quoted argument for a title.
  win32: ["cmd", "/c", "start", '""'],
};

/**
 * Shows an address in the browser of the desktop, or in that of the variable BROWSER (`none`: in no one). Where there is
 * none nothing happens: the address is printed anyway.
 */
export function openBrowser(url: string): void {
  const { BROWSER: own } = process.env;
  if (own === "none") return;
  const [command, ...args] = own ? [own] : (openers[process.platform] ?? ["xdg-open"]);
  const child = spawn(command, [...args, url], { detached: true, stdio: "ignore" });
  child.once("error", () => undefined);
  child.unref();
}
