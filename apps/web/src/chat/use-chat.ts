import { useEffect, useState } from "react";
import { type Conversation, chatApi } from "../api/chat-api.ts";
import { logApi } from "../api/log-api.ts";
import { RequestProblem } from "../api/request.ts";
import { type RunRequest, runApi } from "../api/run-api.ts";
import { useValue } from "../api/value-store.ts";
import { go } from "../place/place.ts";
import { useAccess } from "../shell/access.ts";
import { type Reading, useReading } from "../thread-view/use-reading.ts";
import { useShownVersion, useThreadView } from "../thread-view/use-thread.tsx";
import { takeFirstMessage } from "./first-message.ts";
import { createRunFollower, type LiveRun } from "./run-follower.ts";

/** Messages that are read at first, and more with each look at earlier ones. */
const pageSize = 40;
const maxMessages = 1_000;

/** A message that was sent and that no event has yet. */
interface SentMessage {
  readonly id: string;
  readonly text: string;
  readonly files: readonly string[];
}

/** What a chat shows of a thread and what can be done in it. */
export interface Chat {
  readonly reading: Reading<Conversation>;
  readonly live: LiveRun;
  readonly sent: SentMessage | undefined;
  /** A run goes on. */
  readonly busy: boolean;
  readonly problem: string | undefined;
  showEarlier(): void;
  send(text: string, files: readonly File[], checkpoint?: string): Promise<boolean>;
  again(checkpoint: string): void;
  answer(answers: Readonly<Record<string, unknown>>): void;
  stop(): Promise<void>;
  goOnFrom(version: number, reason: string): Promise<void>;
}

const checkpointOf = (id: string) => ({ checkpoint: { checkpoint_id: id, checkpoint_ns: "" } });

/** An id that nobody else has; `randomUUID` is there on secure origins only. */
function newId(): string {
  const bytes = window.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const wordsOf = (error: unknown) => (error instanceof RequestProblem ? error.message : String(error));

export function useChat(): Chat {
  const { thread, head } = useThreadView();
  const { version, followsHead } = useShownVersion();
  const access = useAccess();
  const [limit, setLimit] = useState(pageSize);
  const [sent, setSent] = useState<SentMessage>();
  const [problem, setProblem] = useState<string>();
  const [follower] = useState(() => createRunFollower(thread));
  const live = useValue(follower.live);
  useEffect(() => () => follower.close(), [follower]);

  const reading = useReading(
    head === 0 ? undefined : `${thread}@${version}/${head}/${limit}/${live.following}`,
    (signal) => chatApi.conversation(thread, { at: version, limit }, { signal }),
    { delayMs: 50 },
  );
  const { value } = reading;
  const { runId } = value ?? {};

  useEffect(() => {
    if (followsHead && typeof runId === "string" && !live.following) void follower.join(runId);
  }, [followsHead, runId, live.following, follower]);
  useEffect(() => {
    if (sent && value?.messages.some(({ id }) => id === sent.id)) setSent(undefined);
  }, [sent, value]);

  const start = async (request: Omit<RunRequest, "assistant_id">) => {
    const row = await logApi.thread(thread);
    const graph = row.metadata.graph_id;
    const agent = typeof graph === "string" && access?.agents.includes(graph) ? graph : access?.agents[0];
    go({ at: undefined });
    await follower.start({ assistant_id: agent ?? "agent", ...request });
  };
  const begin = (request: Omit<RunRequest, "assistant_id">) => {
    setProblem(undefined);
    start(request).catch((error: unknown) => setProblem(wordsOf(error)));
  };

  const send: Chat["send"] = async (text, files, checkpoint) => {
    setProblem(undefined);
    try {
      const uploaded = files.length === 0 ? [] : await chatApi.upload(thread, files);
      const id = newId();
      const message = {
        id,
        type: "human",
        content: text,
        ...(uploaded.length > 0 && { additional_kwargs: { files: uploaded } }),
      };
      setSent({ id, text, files: uploaded.map(({ filename }) => filename) });
      begin({ input: { messages: [message] }, ...(checkpoint !== undefined && checkpointOf(checkpoint)) });
      return true;
    } catch (error) {
      setProblem(wordsOf(error));
      return false;
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the first message is sent once
  useEffect(() => {
    const first = takeFirstMessage(thread);
    if (first) void send(first.text, first.files);
  }, []);

  return {
    reading,
    live,
    sent,
    busy: live.following || (followsHead && typeof runId === "string"),
    problem: problem ?? live.problem,
    showEarlier: () => setLimit(Math.min(maxMessages, limit + pageSize)),
    send,
    again: (checkpoint) => begin({ input: null, ...checkpointOf(checkpoint) }),
    answer: (answers) => begin({ command: { resume: answers } }),
    async stop() {
      const open = live.runId ?? runId;
      if (typeof open !== "string") return;
      await runApi.cancel(thread, open).catch((error: unknown) => setProblem(wordsOf(error)));
    },
    async goOnFrom(from, reason) {
      try {
        await chatApi.rewind(thread, from, reason);
        go({ at: undefined });
      } catch (error) {
        setProblem(wordsOf(error));
      }
    },
  };
}
