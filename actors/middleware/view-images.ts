import { ImagesCleared, ImagesViewed } from "../../events/images.ts";
import { MessagesRemoved } from "../../events/messages.ts";
import { viewedImages } from "../../reducers/images.ts";
import { type ViewImageOptions, viewImageName, viewImageTool } from "../tools/view-image.ts";
import { createMiddleware, type ModelRequest } from "./define-middleware.ts";
import { awaitsImages, imageContext, isImageContext, type ViewedImages } from "./image-context.ts";
import { lastAnswer } from "./last-answer.ts";

interface ViewImagesFields {
  readonly viewed_images?: ViewedImages;
}

export interface ViewImagesOptions extends ViewImageOptions {
  /** Whether the model can see: yes, no, or what its LangChain profile says (default). Without vision nothing is offered. */
  readonly vision?: boolean | "auto";
}

function canSee(model: ModelRequest["model"], vision: boolean | "auto"): boolean {
  if (vision !== "auto") return vision;
  const { profile } = model as { profile?: { imageInputs?: boolean } };
  return profile?.imageInputs === true;
}

/**
 * The tool `view_image`, and the viewed images in the next request: once, when all calls of the answer have results;
 * then `ImagesCleared`, so that the next view shows only what is new, also when the model that answered could not see
 * them. No event holds the bytes.
 *
 * @example
 * createAgent({ model, middleware: [viewImagesMiddleware({ vision: true })] })
 */
export function viewImagesMiddleware(options: ViewImagesOptions = {}) {
  const { vision = "auto", ...toolOptions } = options;
  return createMiddleware<ViewImagesFields>({
    name: "view-images",
    tools: [viewImageTool(toolOptions)],
    events: [ImagesViewed, ImagesCleared],
    reducers: [viewedImages],
    async wrapModelCall(request, handler) {
      const sees = canSee(request.model, vision);
      const tools = sees ? request.tools : request.tools.filter((tool) => tool.name !== viewImageName);
      const { messages, viewed_images: images = {} } = request.state;
      if (!awaitsImages(messages)) return handler({ ...request, tools });
      const key = lastAnswer(messages)?.id ?? request.runtime.runId;
      const shown = sees ? [await imageContext(images, request.runtime.blobs, key)] : [];
      const message = await handler({ ...request, tools, messages: [...request.messages, ...shown] });
      return Object.keys(images).length === 0 ? message : { message, events: [ImagesCleared({})] };
    },
    afterModel(state) {
      // Threads that were imported may hold such messages; requests of our own never leave one behind.
      const ids = state.messages.filter(isImageContext).flatMap((message) => message.id ?? []);
      return ids.length === 0 ? undefined : MessagesRemoved({ ids });
    },
  });
}
