/** Saves bytes as a file, under a name without anything that turns it around. */
export function saveAs(bytes: Blob, name: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\]/gu, "_");
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
