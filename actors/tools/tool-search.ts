import { z } from "zod";
import { ToolsPromoted } from "../../events/promoted-tools.ts";
import { defineTool } from "./define-tool.ts";
import { functionSchema, maxSearchResults, searchTools, type ToolCatalogue } from "./tool-catalogue.ts";

export const toolSearchName = "tool_search";

/**
 * The tool with which a model finds and unlocks deferred tools: it gives their schemas, and from the next model call on
 * they are offered.
 *
 * @param catalogue the catalogue as it is at the time of the search
 * @example
 * toolSearchTool(() => createToolCatalogue(tools));
 */
export function toolSearchTool(catalogue: () => ToolCatalogue) {
  return defineTool({
    name: toolSearchName,
    description:
      "Finds tools that are available but not loaded, and loads them: after it you can call them. Queries: " +
      '"select:name_one,name_two" loads exactly these; "+word more words" wants the word in the name and ranks by the ' +
      `others; anything else is a pattern over names and descriptions. At most ${maxSearchResults} results, except for select.`,
    schema: z.object({ query: z.string().describe("What to look for") }),
    idempotent: true,
    run({ query }) {
      const { tools, hash } = catalogue();
      const found = searchTools(tools, query);
      const names = found.map(({ name }) => name);
      const content =
        found.length > 0
          ? JSON.stringify(found.map(functionSchema), undefined, 1)
          : "No tool matches. Try another word, or select: with the exact name.";
      return { content, events: [ToolsPromoted({ catalogHash: hash, names })] };
    },
  });
}
