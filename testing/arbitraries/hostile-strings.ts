import fc from "fast-check";

const maxHostileLength = 5_000;

/** Texts that have broken programs before: names of object members, halves of characters, text that runs backwards. */
const hostile: readonly string[] = [
  "",
  " ",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "__remove_all__",
  "null",
  "0",
  "-1",
  "\u0000",
  "a\u0000b",
  "\ud83d",
  "\udc00 half",
  "\u202egnp.exe",
  "שלום",
  "\u2028\u2029",
  "é",
  "e\u0301",
  "👩‍👩‍👧‍👦",
  "长文本",
  "../../etc/passwd",
  "<script>",
  "x".repeat(maxHostileLength),
];

/**
 * Strings that break careless code, among them `__proto__`, the empty text, 5,000 characters, halves of surrogate
 * pairs, right-to-left text and NUL.
 *
 * @example
 * fc.assert(fc.property(hostileStrings(), (name) => encode(name).length > 0));
 */
export function hostileStrings(): fc.Arbitrary<string> {
  return fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 12 }));
}

/**
 * Few plain names, so that ids, paths and keys of one log meet each other, and hostile ones now and then.
 *
 * @example
 * fc.array(names()); // ["a", "c", "a", "__proto__"]
 */
export function names(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("a", "b", "c", "d") },
    { weight: 1, arbitrary: hostileStrings() },
  );
}
