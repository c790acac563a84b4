import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { Json } from "../../events/json.ts";
import type { BlobReference } from "../../events/message.ts";
import type { ToolResult } from "../tools/define-tool.ts";

/** Longest text of one result in UTF-8 bytes: what is longer is cut, so that it fits into an event. */
const maxResultBytes = 400_000;

/** The text cut to a number of UTF-8 bytes, with a note of how much is missing. */
function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= limit) return text;
  const kept = new TextDecoder("utf-8").decode(bytes.subarray(0, limit)).replace(/\uFFFD+$/, "");
  return `${kept}\n[cut: the result has ${bytes.length} bytes, the first ${limit} are shown. Ask for less at once.]`;
}

async function keep(data: string, mimeType: string, blobs: BlobStore): Promise<BlobReference> {
  return blobs.put(Buffer.from(data, "base64"), mimeType);
}

/** One block as text; bytes go to the blob store and leave a line that says so. */
async function describeBlock(
  block: CallToolResult["content"][number],
  blobs: BlobStore,
  kept: BlobReference[],
): Promise<string> {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio": {
      const reference = await keep(block.data, block.mimeType, blobs);
      kept.push(reference);
      return `[${block.type} ${block.mimeType}, ${reference.size} bytes, kept as ${reference.sha256}]`;
    }
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return resource.text;
      const reference = await keep(resource.blob, resource.mimeType ?? "application/octet-stream", blobs);
      kept.push(reference);
      return `[${resource.uri}, ${reference.size} bytes, kept as ${reference.sha256}]`;
    }
    default:
      return JSON.stringify(block);
  }
}

/**
 * A result of an MCP tool as a tool result: text for the model, bytes in the blob store (named in `artifact`).
 *
 * @param limit longest text in UTF-8 bytes
 */
export async function readMcpResult(
  result: CallToolResult,
  blobs: BlobStore,
  limit: number = maxResultBytes,
): Promise<ToolResult> {
  const kept: BlobReference[] = [];
  const parts: string[] = [];
  for (const block of result.content) parts.push(await describeBlock(block, blobs, kept));
  if (parts.length === 0 && result.structuredContent) parts.push(JSON.stringify(result.structuredContent));
  return {
    content: cutToBytes(parts.join("\n"), limit),
    ...(result.isError ? { status: "error" as const } : {}),
    ...(kept.length > 0 ? { artifact: { blobs: kept } as unknown as Json } : {}),
  };
}
