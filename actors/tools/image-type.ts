/** Types that a model can be shown, by the extension of the file. */
const typeByExtension: Readonly<Record<string, string>> = {
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
  ".gif": "image/gif",
};

export const imageExtensions = Object.keys(typeByExtension);

/** The type that a file name claims; undefined: no image that can be shown. */
export function imageTypeOfName(path: string): string | undefined {
  const extension = /\.[^./]+$/.exec(path)?.[0].toLowerCase() ?? "";
  return Object.hasOwn(typeByExtension, extension) ? typeByExtension[extension] : undefined;
}

const startsWith = (bytes: Uint8Array, text: string, at = 0): boolean =>
  text.length + at <= bytes.length &&
  [...text].every((char, index) => bytes[at + index] === char.charCodeAt(0));

/** The type that the first bytes show; undefined: none of these. */
export function imageTypeOfBytes(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (startsWith(bytes, "\xff\xd8\xff")) return "image/jpeg";
  if (startsWith(bytes, "GIF87a") || startsWith(bytes, "GIF89a")) return "image/gif";
  if (startsWith(bytes, "RIFF") && startsWith(bytes, "WEBP", 8)) return "image/webp";
  return undefined;
}
