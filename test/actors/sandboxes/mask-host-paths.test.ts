import { expect, test } from "vitest";
import { maskHostPaths } from "../../../actors/sandboxes/mask-host-paths.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";

const folders = threadFolders({ folder: "/srv/st.ore", threadId: "t" });
const base = "/srv/st.ore/threads/t/user-data";

test.each([
  [`open '${base}/workspace/a b'`, "open '/mnt/user-data/workspace/a b'"],
  [`${base}/outputs`, "/mnt/user-data/outputs"],
  [`in ${base}/uploads.`, "in /mnt/user-data/uploads."],
  [`${base}/uploads:${base}/outputs/x`, "/mnt/user-data/uploads:/mnt/user-data/outputs/x"],
  [`cd ${base}`, "cd /mnt/user-data"],
  ["nothing to hide /srv/stXore/threads/t/user-data", "nothing to hide /srv/stXore/threads/t/user-data"],
])("%s", (text, masked) => {
  expect(maskHostPaths(text, folders)).toBe(masked);
});

test("a name that only begins like a folder is not taken for it, and still shows no host path", () => {
  expect(maskHostPaths(`${base}/workspace2/a`, folders)).toBe("/mnt/user-data/workspace2/a");
});

test("paths behind links are masked when they are given", () => {
  const aliases = [["/private/w", "/mnt/user-data/workspace"]] as const;
  expect(maskHostPaths("/private/w/a", folders, aliases)).toBe("/mnt/user-data/workspace/a");
});
