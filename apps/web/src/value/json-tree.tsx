import { useCallback, useMemo } from "react";
import { JsonView, type Props } from "react-json-view-lite";
import { useWords } from "../i18n/language.ts";
import { visibleJson } from "../text/visible-text.ts";
import { valueWords } from "./words.ts";
import "./json-tree.css";

const classes = {
  container: "json-tree",
  basicChildStyle: "json-child",
  childFieldsContainer: "json-children",
  label: "json-label",
  clickableLabel: "json-label json-clickable",
  nullValue: "json-null",
  undefinedValue: "json-null",
  stringValue: "json-string",
  booleanValue: "json-literal",
  numberValue: "json-literal",
  otherValue: "json-literal",
  punctuation: "json-punctuation",
  expandIcon: "json-expand",
  collapseIcon: "json-collapse",
  collapsedContent: "json-collapsed",
  noQuotesForStringValues: false,
  quotesForFieldNames: false,
  stringifyStringValues: false,
} as const;

/**
 * A JSON value as a tree, with characters that would not be seen named.
 *
 * @param props.depth levels that are open at first
 */
export function JsonTree({
  value,
  name,
  depth = 2,
}: {
  readonly value: object;
  readonly name: string;
  readonly depth?: number;
}) {
  const words = useWords(valueWords);
  const data = useMemo(() => visibleJson(value) as object, [value]);
  const style: Props["style"] = useMemo(
    () => ({ ...classes, ariaLables: { collapseJson: words.collapse, expandJson: words.expand } }),
    [words],
  );
  // Another function would open and close the tree anew.
  const isOpenAtFirst = useCallback((level: number) => level < depth, [depth]);
  return (
    <JsonView
      data={data}
      style={style}
      shouldExpandNode={isOpenAtFirst}
      clickToExpandNode
      aria-label={words.tree(name)}
    />
  );
}
