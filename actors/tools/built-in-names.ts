/** Names of the tools that the middlewares and presets of this package bring: no tool from elsewhere gets one. */
export const builtInToolNames: readonly string[] = [
  "ask_clarification",
  "bash",
  "list_uploaded_files",
  "ls",
  "present_files",
  "read_file",
  "str_replace",
  "task",
  "tool_search",
  "view_image",
  "write_file",
  "write_todos",
];
