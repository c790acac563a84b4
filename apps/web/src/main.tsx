import { createRoot } from "react-dom/client";
import "./styles/tokens.css";
import "./styles/base.css";
import { App } from "./shell/app.tsx";
import { startLiveEvents } from "./thread-view/live-events.ts";

startLiveEvents(new AbortController().signal);
const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
