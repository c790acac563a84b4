/** Says which states could not be compared, and what would help; nothing when all were. */
export function uncheckedText(result: {
  readonly unchecked: number;
  readonly unknownFields: readonly string[];
}): string {
  const { unchecked, unknownFields } = result;
  if (unchecked === 0) return "";
  const fields = `${unknownFields.length === 1 ? "field" : "fields"} ${unknownFields.join(", ")}`;
  return `, ${unchecked} not compared: ${fields} need their agent, set THREADFOLD_AGENT`;
}
