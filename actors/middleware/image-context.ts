import type { BaseMessage } from "@langchain/core/messages";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { ViewedImage } from "../../events/images.ts";
import type { Message } from "../../events/message.ts";
import { HumanMessage } from "../langchain.ts";
import { viewImageName } from "../tools/view-image.ts";
import { imageContextMarker } from "./hidden-message.ts";
import { callsOf, isAnswer, openCalls } from "./last-answer.ts";

/** Begin of the id of a message that shows images. With the marker it tells it from what a user may write. */
const imageContextPrefix = "view-image-context:";

export type ViewedImages = { readonly [path: string]: ViewedImage };

/** True for messages that show images: id and marker, never the text. */
export function isImageContext(message: BaseMessage): boolean {
  return (
    (message.id ?? "").startsWith(imageContextPrefix) &&
    message.additional_kwargs?.[imageContextMarker] === true
  );
}

/** True when the newest answer viewed images, all of its calls have results, and the images were not shown yet. */
export function awaitsImages(messages: readonly BaseMessage[]): boolean {
  const index = messages.findLastIndex(isAnswer);
  const answer = messages[index];
  if (!answer || !isAnswer(answer)) return false;
  if (!callsOf(answer).some((call) => call.name === viewImageName)) return false;
  return openCalls(messages).length === 0 && !messages.slice(index + 1).some(isImageContext);
}

type Block = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

async function imageBlock(path: string, image: ViewedImage, blobs: BlobStore): Promise<Block> {
  if (image.sha256 === undefined) return { type: "text", text: `${path} is no longer available.` };
  try {
    const bytes = await blobs.get(image.sha256);
    const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
    return { type: "image_url", image_url: { url: `data:${image.mime_type};base64,${base64}` } };
  } catch {
    return { type: "text", text: `${path} could not be loaded. View it again if you need it.` };
  }
}

/** The message that shows viewed images: a header, then a caption and the image for each. */
export async function imageContext(
  images: ViewedImages,
  blobs: BlobStore,
  key: string,
): Promise<HumanMessage> {
  const entries = Object.entries(images);
  const shown = await Promise.all(
    entries.map(
      async ([path, image]): Promise<Block[]> => [
        { type: "text", text: `${path} (${image.mime_type})` },
        await imageBlock(path, image, blobs),
      ],
    ),
  );
  const header = entries.length > 0 ? "The images that you viewed:" : "None of the images could be viewed.";
  return new HumanMessage({
    id: `${imageContextPrefix}${key}`,
    content: [{ type: "text", text: header }, ...shown.flat()],
    additional_kwargs: { hide_from_ui: true, [imageContextMarker]: true },
  });
}

function holdsDataUrl(block: unknown): boolean {
  if (typeof block !== "object" || block === null) return false;
  const { type, image_url: image } = block as { type?: unknown; image_url?: unknown };
  if (type !== "image_url") return false;
  const url = typeof image === "string" ? image : (image as { url?: unknown } | null)?.url;
  return typeof url === "string" && url.startsWith("data:");
}

/**
 * Messages as clients may have them: hidden ones lose their data URLs. Ordinary messages stay as they are. The same
 * array when nothing has to go.
 *
 * @example
 * const messages = withoutHiddenImages(state.messages);
 */
export function withoutHiddenImages(messages: readonly Message[]): readonly Message[] {
  const clean = messages.map((message) => {
    if (message.additional_kwargs?.hide_from_ui !== true || typeof message.content === "string")
      return message;
    const content = message.content.filter((block) => !holdsDataUrl(block));
    return content.length === message.content.length ? message : { ...message, content };
  });
  return clean.every((message, index) => message === messages[index]) ? messages : clean;
}
