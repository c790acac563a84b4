/** A text is no arithmetic that the planner can work out. */
export class ArithmeticError extends Error {
  override readonly name = "ArithmeticError";
}

const words: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b|加上?/giu, "+"],
  [/\bminus\b|减去?/giu, "-"],
  [/\bmultiplied by\b|\btimes\b|乘以?|×|·/giu, "*"],
  [/\bdivided by\b|\bover\b|除以|÷/giu, "/"],
  [/\bto the power of\b|\*\*/giu, "^"],
  [/\bmod(?:ulo)?\b/giu, "%"],
  [/[（]/gu, "("],
  [/[）]/gu, ")"],
];

/** `2 plus 3 times 4` → `2 + 3 * 4` */
export function normalizeArithmetic(text: string): string {
  return words.reduce((result, [pattern, sign]) => result.replace(pattern, sign), text).trim();
}

/** True for a text that has at least two numbers and only numbers and signs. */
export function looksLikeArithmetic(text: string): boolean {
  const normal = normalizeArithmetic(text);
  return /^[\d\s.,+\-*/%^()]+$/.test(normal) && /\d\s*\)*\s*[+\-*/%^]\s*[-(]*\s*[\d.]/.test(normal);
}

/**
 * Works out `+ - * / % ^` with parentheses, left to right by the usual precedence (`^` binds to the right).
 *
 * @throws {ArithmeticError}
 * @example
 * calculate("2 * (3 + 4)"); // 14
 */
export function calculate(expression: string): number {
  const tokens = normalizeArithmetic(expression)
    .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
    .match(/\d+(?:\.\d+)?|\.\d+|[+\-*/%^()]|\S/g);
  if (!tokens) throw new ArithmeticError("There is nothing to calculate.");
  let at = 0;
  const take = (...signs: string[]): string | undefined => {
    const token = tokens[at];
    if (token === undefined || !signs.includes(token)) return undefined;
    at += 1;
    return token;
  };
  const atom = (): number => {
    if (take("-")) return -power();
    if (take("+")) return power();
    if (take("(")) {
      const inside = sum();
      if (!take(")")) throw new ArithmeticError(`A ")" is missing in "${expression}".`);
      return inside;
    }
    const token = tokens[at];
    const value = Number(token);
    if (token === undefined || Number.isNaN(value)) {
      throw new ArithmeticError(
        `A number is missing in "${expression}"${token ? ` before "${token}"` : ""}.`,
      );
    }
    at += 1;
    return value;
  };
  const power = (): number => {
    const base = atom();
    return take("^") ? base ** power() : base;
  };
  const product = (): number => {
    let value = power();
    for (let sign = take("*", "/", "%"); sign; sign = take("*", "/", "%")) {
      const next = power();
      if (sign !== "*" && next === 0) throw new ArithmeticError(`"${expression}" divides by zero.`);
      value = sign === "*" ? value * next : sign === "/" ? value / next : value % next;
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) {
      const next = product();
      value = sign === "+" ? value + next : value - next;
    }
    return value;
  };
  const result = sum();
  if (at < tokens.length) throw new ArithmeticError(`"${tokens[at]}" is out of place in "${expression}".`);
  if (!Number.isFinite(result)) throw new ArithmeticError(`"${expression}" is too large.`);
  return Number(result.toPrecision(15));
}
