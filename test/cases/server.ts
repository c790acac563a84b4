/** Facts about the HTTP interface that clients rely on, by the id of the case. */
export const serverCases = {
  "API-01": {
    given: { artifacts: ["a", "b"], todos: [{ content: "x", status: "pending" }] },
    body: { values: { artifacts: ["c"] } },
    expected: { artifacts: ["c"], todos: [{ content: "x", status: "pending" }] },
  },
  "API-02": { body: { values: { nonsense: 1 } } },
  "API-04": { body: { checkpoint_id: "unknown", values: {} } },
  "IMG-18": {
    messages: [
      {
        type: "human",
        content: [
          { type: "text", text: "t" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
        additional_kwargs: { hide_from_ui: true },
      },
      {
        type: "human",
        content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }],
        additional_kwargs: {},
      },
    ],
    counts: [1, 1],
  },
  "EVT-05": {
    append: [{ type: "MessagesNoted" }, { type: "Traced" }, { type: "MessagesNoted" }],
    type: "MessagesNoted",
    expected: { messages: [1, 3], all: [1, 2, 3] },
  },
  "EVT-06": { contents: ["one", "two"], expected: { stored: "one", count: 1 } },
  "EVT-07": { runs: ["B", "A", "B", "A"], after: 2, expected: { A: [2, 4], A_after_2: [4] } },
  "EVT-11": { accepted: [1, 21, 22, 100], refused: ["", "x", "9Lives", "With Space"] },
  "EVT-12": {
    types: [
      "SandboxBound",
      "TodosWritten",
      "ImagesViewed",
      "ToolsPromoted",
      "TitleSet",
      "FilesUploaded",
      "ArtifactsPresented",
    ],
    state: {
      sandbox: { sandbox_id: "s1" },
      todos: [{ content: "x", status: "pending" }],
      viewed_images: { "/mnt/user-data/uploads/a.png": { mime_type: "image/png" } },
      promoted: { catalog_hash: "h1", names: ["search"] },
      title: "A title",
      uploaded_files: [{ filename: "a.txt", size: 1, path: "/mnt/user-data/uploads/a.txt" }],
      artifacts: ["/mnt/user-data/outputs/a.md"],
    },
  },
};
