/** Sentences of an extract. */
const sentences = 3;

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]{4,}/gu) ?? [];
}

/** The first heading, and the sentences whose words are the most frequent of the text, in their order. */
export function extractSummary(text: string): string {
  const heading = /^#+\s+(.+)$/m.exec(text)?.[1];
  const prose = text.replace(/```[\s\S]*?```/g, " ").replace(/^(?:#|\s*[|>]).*$/gm, " ");
  const all = prose
    .split(/(?<=[.!?。！？])\s+|(?<=[。！？])|\n{2,}/u)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence.length > 20 || /\p{Script=Han}{6}/u.test(sentence));
  const counts = new Map<string, number>();
  for (const word of wordsOf(prose)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weightOf = (sentence: string) => {
    const words = new Set(wordsOf(sentence));
    return [...words].reduce((sum, word) => sum + (counts.get(word) ?? 0), 0) / Math.sqrt(words.size || 1);
  };
  const picked = all
    .map((sentence, order) => ({ sentence, order, weight: weightOf(sentence) }))
    .sort((a, b) => b.weight - a.weight || a.order - b.order)
    .slice(0, sentences)
    .sort((a, b) => a.order - b.order)
    .map(({ sentence }) => sentence);
  return [heading, ...picked].filter((part) => part !== undefined).join("\n");
}
