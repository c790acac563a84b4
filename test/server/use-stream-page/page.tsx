import { useStream } from "@langchain/langgraph-sdk/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

interface ChatState extends Record<string, unknown> {
  messages: { id?: string; type: string; content: unknown }[];
}

/** A page as small as can be that does with `useStream` what chat pages do. */
function Page() {
  const place = new URL(window.location.href);
  const [threadId, setThreadId] = useState<string | null>(place.searchParams.get("thread"));
  const stream = useStream<ChatState>({
    apiUrl: place.searchParams.get("api") ?? "",
    assistantId: "agent",
    threadId,
    reconnectOnMount: true,
    fetchStateHistory: true,
    messagesKey: "messages",
    onThreadId(id) {
      setThreadId(id);
      place.searchParams.set("thread", id);
      window.history.replaceState(null, "", place);
    },
  });
  const send = (content: string, checkpoint?: unknown) =>
    stream.submit(
      { messages: [{ type: "human", content }] },
      {
        streamResumable: true,
        onDisconnect: "continue",
        ...(checkpoint ? { checkpoint: checkpoint as never } : {}),
      },
    );
  const first = stream.messages[0];
  const metadata = first ? stream.getMessagesMetadata(first as never) : undefined;
  const branches = metadata?.branchOptions ?? [];
  return (
    <main>
      <ol id="messages">
        {stream.messages.map((message, index) => (
          <li key={message.id ?? index}>{String(message.content)}</li>
        ))}
      </ol>
      <output id="state">{stream.isLoading ? "loading" : "idle"}</output>
      <output id="interrupt">{stream.interrupt ? "asked" : "none"}</output>
      <output id="branches">{branches.length}</output>
      <button type="button" id="send" onClick={() => void send("hello")} />
      <button type="button" id="slow" onClick={() => void send("slow")} />
      <button type="button" id="talk" onClick={() => void send("talk")} />
      <button type="button" id="ask" onClick={() => void send("ask")} />
      <button type="button" id="stop" onClick={() => void stream.stop()} />
      <button
        type="button"
        id="edit"
        onClick={() => void send("edited", metadata?.firstSeenState?.parent_checkpoint)}
      />
      <button type="button" id="switch" onClick={() => stream.setBranch(branches[0] ?? "")} />
      <button
        type="button"
        id="approve"
        onClick={() =>
          void stream.submit(undefined, { command: { resume: { decisions: [{ type: "approve" }] } } })
        }
      />
    </main>
  );
}

const root = document.getElementById("root");
if (root) createRoot(root).render(<Page />);
