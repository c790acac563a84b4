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
};
