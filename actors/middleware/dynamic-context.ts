import { HumanMessage } from "../langchain.ts";
import { createMiddleware } from "./define-middleware.ts";
import { dynamicContextMarker } from "./hidden-message.ts";

export interface DynamicContextOptions {
  /** The present. Default: the clock. */
  readonly now?: () => Date;
  /** IANA name of the zone whose date is told. Default: that of the machine. */
  readonly timeZone?: string;
}

const reminderName = "dynamic_context_reminder";

/**
 * Tells the model today's date, in a message that no client shows: at the first run, and again when the date changed.
 * It is stored, so that the thread says what the model knew, and compaction keeps it.
 *
 * @example
 * createAgent({ model, middleware: [dynamicContextMiddleware({ timeZone: "Europe/Paris" })] })
 */
export function dynamicContextMiddleware(options: DynamicContextOptions = {}) {
  const { now = () => new Date(), timeZone } = options;
  const format = new Intl.DateTimeFormat("en-CA", { dateStyle: "short", ...(timeZone ? { timeZone } : {}) });
  return createMiddleware({
    name: "dynamic-context",
    beforeAgent(state) {
      const date = format.format(now());
      const last = state.messages.findLast((message) => message.name === reminderName);
      if (last?.additional_kwargs.date === date) return undefined;
      const reminder = new HumanMessage({
        name: reminderName,
        content: `<system-reminder>Today is ${date}.</system-reminder>`,
        additional_kwargs: { hide_from_ui: true, [dynamicContextMarker]: true, date },
      });
      return { messages: [reminder] };
    },
  });
}
