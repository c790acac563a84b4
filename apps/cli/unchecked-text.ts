/** Says which states could not be compared, and what would help; nothing when all were. */
export function uncheckedText(result: {
  readonly unchecked: number;
  readonly unknownFields: readonly string[];
  readonly erased: number;
}): string {
  const { unchecked, unknownFields, erased } = result;
  const gone = erased === 0 ? "" : `, ${erased} not compared: content before them was erased`;
  if (unchecked === 0) return gone;
  const fields = `${unknownFields.length === 1 ? "field" : "fields"} ${unknownFields.join(", ")}`;
  return `${gone}, ${unchecked} not compared: ${fields} need their agent, set THREADFOLD_AGENT`;
}
