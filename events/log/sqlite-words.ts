import type { SqliteDatabase } from "./sqlite-driver.ts";

/** Event types and emitters by small numbers, kept in memory beside their table. */
export interface Words {
  /** Number of a word, made when it is new. Only inside a write transaction. */
  numberOf(word: string): number;
  /** Number of a word; undefined when no event has it. */
  find(word: string): number | undefined;
  /** Undefined for a number that was never given out. */
  wordOf(number: number): string | undefined;
  /** Forgets what a rolled back transaction may have made. */
  forget(): void;
}

export function createWords(database: SqliteDatabase): Words {
  const numbers = new Map<string, number>();
  const words = new Map<number, string>();
  const selectAll = database.prepare("SELECT id, word FROM words");
  const insert = database.prepare("INSERT INTO words (word) VALUES (?)");

  const reload = () => {
    for (const [number, word] of selectAll.all() as [number, string][]) {
      numbers.set(word, number);
      words.set(number, word);
    }
  };
  const find = (word: string): number | undefined => {
    if (!numbers.has(word)) reload();
    return numbers.get(word);
  };
  return {
    find,
    numberOf(word) {
      const known = find(word);
      if (known !== undefined) return known;
      insert.run(word);
      reload();
      return numbers.get(word) as number;
    },
    wordOf(number) {
      if (!words.has(number)) reload();
      return words.get(number);
    },
    forget() {
      numbers.clear();
      words.clear();
    },
  };
}
