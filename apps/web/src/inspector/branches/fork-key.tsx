import { defineWords, useWords } from "../../i18n/language.ts";
import { useKeys } from "../../keys/keys.ts";
import { go } from "../../place/place.ts";
import { useMayChange } from "../../shell/access.ts";
import { forkRequested } from "./fork-request.ts";

/** Apart from the tab's other texts: the key works before the tab is loaded. */
const forkWords = defineWords(
  { fork: "Fork from the version that is shown", group: "Branches" },
  { fork: "从当前显示的版本分叉", group: "分支" },
);

/** The key that forks works from every tab. */
export function ForkKey() {
  const words = useWords(forkWords);
  const mayChange = useMayChange();
  useKeys([
    {
      keys: ["f"],
      does: words.fork,
      group: words.group,
      run: () => {
        go({ tab: "branches" });
        // Without permission the tab says why.
        if (mayChange) forkRequested.set(true);
      },
    },
  ]);
  return null;
}
