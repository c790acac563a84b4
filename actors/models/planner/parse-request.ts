import { looksLikeArithmetic, normalizeArithmetic } from "./arithmetic.ts";
import { absolutePath, endingsIn, folderIn, pathsIn, quotedTexts, targetIn } from "./paths.ts";
import type { CountUnit, PlannedStep, Step } from "./step.ts";

/** Words before the verb that say nothing. */
const courtesy =
  /^(?:please|pls|hi|hello|hey|ok(?:ay)?|now|also|first(?:ly)?|next|finally|lastly|and|then|so|just|can you|could you|would you|will you|i want you to|i'd like you to|let's|let us|请你?|帮我|麻烦你?|现在|首先|先|最后|然后|接着|再|并且|并|和|你能|能否|可以)(?:[\s,，:：]+|(?<=[一-鿿]))/i;

const verbs =
  /^(?:list|ls|show|read|open|cat|print|display|view|write|save|create|replace|change|search|find|grep|look for|count|how many|calculate|compute|evaluate|what is|what's|work out|run|execute|plan|make|present|deliver|hand over|summari[sz]e|列出|列举|显示|看看|查看|读取?|打开|写入?|保存|存|创建|新建|把|将|替换|搜索|查找|搜|统计|数一?数|计算|算|运行|执行|计划|规划|制定|展示|呈现|提交|交付|总结|概括|摘要)/i;

function withoutCourtesy(text: string): string {
  let rest = text.trim();
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replace(courtesy, "").trim();
  }
  return rest.replace(/[.!?。！？]+$/u, "").trim();
}

const separators =
  /\s*(?:[;；。\n]+|[,，]?\s*\band then\b|[,，]?\s*\bthen\b|[,，]?\s*\band\b|[,，]|然后|接着|并且|并|再|和)\s*/giu;

/** The parts of a request: cut where a separator is followed by a verb that the grammar knows, never inside quotes. */
function splitRequest(text: string): string[] {
  const masked = text.replace(/"[^"]*"|“[^”]*”|「[^」]*」|`[^`]*`/g, (part) => "\0".repeat(part.length));
  const parts: string[] = [];
  let start = 0;
  for (const match of masked.matchAll(separators)) {
    const end = match.index + match[0].length;
    const strong = /[;；。\n]|then|然后|接着/i.test(match[0]);
    if (match.index === 0 || !(strong || verbs.test(withoutCourtesy(masked.slice(end))))) continue;
    parts.push(text.slice(start, match.index));
    start = end;
  }
  parts.push(text.slice(start));
  return parts.map(withoutCourtesy).filter((part) => part !== "");
}

function unitIn(text: string): CountUnit {
  if (/\blines?\b|行/.test(text)) return "lines";
  if (/\bcharacters?\b|\bchars?\b|\bletters?\b|字符|字数|个字/.test(text)) return "characters";
  return "words";
}

function parseWrite(text: string): Step | undefined {
  const path = pathsIn(text).at(-1);
  if (!path) return undefined;
  const body = quotedTexts(text).find((candidate) => candidate !== path);
  const plain = /\bwith (?:the )?(?:text|content|contents)\s*:?\s+(.+)$|内容(?:为|是)?[:：]?\s*(.+)$/i.exec(
    text,
  );
  const content = body ?? (plain?.[1] ?? plain?.[2])?.trim();
  return { kind: "write", path: absolutePath(path), text: content };
}

function parseReplace(text: string): Step | undefined {
  const [from, to] = quotedTexts(text);
  return from === undefined || to === undefined
    ? undefined
    : { kind: "replace", target: targetIn(text.replace(/"[^"]*"|“[^”]*”|「[^」]*」/g, " ")), from, to };
}

function parseSearch(text: string): Step | undefined {
  const wanted =
    quotedTexts(text)[0] ??
    /\b(?:for|find|grep)\s+(?:the (?:word|text)\s+)?(\S+)/i.exec(text)?.[1] ??
    /(?:搜索|查找|搜)\s*(\S+)/.exec(text)?.[1];
  if (!wanted) return undefined;
  return { kind: "search", text: wanted, folder: folderIn(text.replace(wanted, " ")) };
}

function parsePlan(text: string): Step {
  const list = /[:：]\s*([\s\S]+)$/.exec(text)?.[1] ?? "";
  const items = list
    .split(/\s*(?:[;；\n]|,(?=\s)|，|、)\s*(?:and\s+)?/)
    .map((item) => item.replace(/^(?:[-*]|\d+[.)、])\s*/, "").trim())
    .filter((item) => item !== "");
  return { kind: "plan", items };
}

/** The rules in the order they are tried. A rule that finds its verb but not what it needs lets the next one try. */
const rules: readonly (readonly [RegExp, (text: string) => Step | undefined])[] = [
  [
    /^(?:help|what can you do|who are you|hello|hi|hey|你好|帮助|你能做什么|你会什么|你是谁)\b|^(?:你好|帮助|你能做什么|你会什么|你是谁)/i,
    () => ({ kind: "help" }),
  ],
  [
    /^(?:plan\b|make (?:a |me a )?(?:todo|to-do|plan)|write (?:a )?(?:todo|to-do)|create (?:a )?(?:todo|to-do|plan)|计划|规划|制定|列出?待办)/i,
    parsePlan,
  ],
  [/^(?:count|how many|统计|数一?数)|(?:多少|几)(?:个)?(?:字|词|行)/i, (text) => parseCount(text)],
  [/^(?:calculate|compute|evaluate|work out|what is|what's|计算|算一?下?)?[\s:：]*(.+)$/i, parseCalculation],
  [/^(?:run|execute|运行|执行)/i, parseRun],
  [/^(?:replace|change|把|将|替换)/i, parseReplace],
  [/^(?:write|save|create|put|写入?|保存|存|创建|新建|把|将)/i, parseWrite],
  [
    /^(?:present|deliver|hand over|展示|呈现|提交|交付)/i,
    (text) => ({ kind: "present", target: targetIn(text) }),
  ],
  [/^(?:summari[sz]e|sum up|总结|概括|摘要)/i, (text) => ({ kind: "summarize", target: targetIn(text) })],
  [/^(?:search|find|grep|look for|搜索|查找|搜)/i, (text) => parseFind(text)],
  [/^(?:list|ls|show|what|which|display|列出|列举|显示|看看|查看|有哪些|有什么)/i, parseList],
  [
    /^(?:read|open|show|cat|print|display|view|读取?|打开|显示|看看|查看)/i,
    (text) => ({ kind: "read", target: targetIn(text) }),
  ],
];

function parseCount(text: string): Step | undefined {
  const unit = unitIn(text);
  if (
    /\bhow many\b.*\bfiles?\b|\bcount\b.*\bfiles\b(?!.*\b(?:words?|lines?|characters?)\b)/i.test(text) &&
    !/words?|lines?|characters?/i.test(text)
  )
    return { kind: "list", folder: folderIn(text), endings: endingsIn(text) };
  return { kind: "count", unit, target: targetIn(text) };
}

function parseCalculation(text: string): Step | undefined {
  const expression = text
    .replace(/^(?:calculate|compute|evaluate|work out|what is|what's|计算|算一?下?)[\s:：]*/i, "")
    .replace(/\s*(?:=|等于(?:多少|几)?|是多少)\s*$/u, "");
  return looksLikeArithmetic(expression)
    ? { kind: "calculate", expression: normalizeArithmetic(expression) }
    : undefined;
}

function parseRun(text: string): Step | undefined {
  const rest = text.replace(
    /^(?:run|execute|运行|执行)\s*(?:the\s+)?(?:command|shell command|命令)?\s*[:：]?\s*/i,
    "",
  );
  const command = /^["“「`]/.test(rest) ? quotedTexts(rest)[0] : rest;
  return command ? { kind: "run", command } : undefined;
}

function parseFind(text: string): Step | undefined {
  const files = endingsIn(text).length > 0 || /^find (?:all |the )?files/i.test(text);
  if (files && quotedTexts(text).length === 0 && !/\bfor\b/.test(text)) return parseList(text);
  return parseSearch(text);
}

function parseList(text: string): Step | undefined {
  const aboutFiles = /\bfiles?\b|\bfolders?\b|\bdirector(?:y|ies)\b|^ls\b|文件|目录/i.test(text);
  const kinds = endingsIn(text.replace(/\b[\w-]+\.[A-Za-z0-9]+\b/g, " "));
  const named = pathsIn(text).some((path) => /\.[A-Za-z0-9]+$/.test(path));
  if (named || !(aboutFiles || kinds.length > 0 || /^list\b/i.test(text))) return undefined;
  return { kind: "list", folder: folderIn(text), endings: kinds };
}

/** Understands one part of a request. */
function parseStep(text: string): Step {
  for (const [start, parse] of rules) {
    if (!start.test(text)) continue;
    const step = parse(text);
    if (step) return step;
  }
  return { kind: "unknown" };
}

/**
 * Understands a request: one step for each part that is joined by `then`, `and`, `;`, 然后 …
 *
 * @example
 * parseRequest("list the markdown files and count their words"); // a `list` and a `count` of what was listed
 */
export function parseRequest(text: string): PlannedStep[] {
  const parts = splitRequest(text);
  // A plan takes its items with it: `plan: a; b; c` is one part.
  const planned = parts.findIndex((part) =>
    /^plan\b[^:：]*[:：]|^make .*(?:plan|list)[^:：]*[:：]|^(?:计划|规划|制定)[^:：]*[:：]/i.test(part),
  );
  const joined = planned < 0 ? parts : [...parts.slice(0, planned), parts.slice(planned).join("; ")];
  return joined.map((words) => ({ step: parseStep(words), words }));
}
