import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { statechartLayout } from "./build/statechart-layout.ts";

export default defineConfig({
  // The page may be served below a path.
  base: "./",
  plugins: [react(), statechartLayout()],
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
