import { Tabs } from "radix-ui";
import { useEffect, useRef } from "react";
import { useWords } from "../i18n/language.ts";
import { useKeys } from "../keys/keys.ts";
import { PartFrame } from "../parts/lazy-part.tsx";
import { go, usePlace } from "../place/place.ts";
import { shellWords } from "../shell/words.ts";
import { ForkKey } from "./branches/fork-key.tsx";
import { type InspectorTab, inspectorTabs } from "./tabs.ts";
import "./inspector.css";

function TabTitle({ tab }: { readonly tab: InspectorTab }) {
  const { title } = useWords(tab.title);
  const words = useWords(shellWords);
  useKeys([
    {
      keys: [tab.shortcut],
      does: words.keyTab(title),
      group: words.inspector,
      run: () => go({ tab: tab.name }),
    },
  ]);
  return (
    <Tabs.Trigger className="tab" value={tab.name} data-tab={tab.name}>
      {title}
    </Tabs.Trigger>
  );
}

/** What the thread is at the shown version, from several sides. */
export function Inspector() {
  const words = useWords(shellWords);
  const place = usePlace();
  const chosen = inspectorTabs.find(({ name }) => name === place.tab) ?? inspectorTabs[0];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A narrow column does not have room for all names.
    const tab = list.current?.querySelector(`[data-tab="${chosen.name}"]`);
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen.name]);
  return (
    <Tabs.Root
      className="inspector"
      value={chosen.name}
      onValueChange={(name) => go({ tab: name })}
      activationMode="manual"
    >
      <ForkKey />
      <Tabs.List ref={list} className="tab-list" aria-label={words.inspector}>
        {inspectorTabs.map((tab) => (
          <TabTitle key={tab.name} tab={tab} />
        ))}
      </Tabs.List>
      {inspectorTabs.map((tab) => (
        <Tabs.Content key={tab.name} className="tab-content" value={tab.name} tabIndex={-1}>
          <PartFrame name={tab.name}>
            <tab.component />
          </PartFrame>
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
