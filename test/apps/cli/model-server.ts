import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A server that speaks enough of OpenAI's protocol; `answer` is called for each question. */
export async function modelServer(answer: (response: ServerResponse, question: number) => void) {
  let questions = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      questions += 1;
      answer(response, questions);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

/** Streams one answer: a text, or the call of a tool. */
export function streamAnswer(response: ServerResponse, delta: object, finish: "stop" | "tool_calls"): void {
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, ...choice }] })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ delta: { role: "assistant", ...delta }, finish_reason: null }));
  response.write(chunk({ delta: {}, finish_reason: finish }));
  response.end("data: [DONE]\n\n");
}
