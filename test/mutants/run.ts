import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, mutants } from "./mutants.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folders = ["events", "reducers", "projections", "actors", "testing", "test/mutants"];
/** Milliseconds after which a mutant counts as found: it hangs. */
const maxMs = 120_000;

/** Inside the package, where the copy finds the installed packages. */
const copy = mkdtempSync(join(root, "node_modules", ".cache-mutants-"));

function check(by: string): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", join(copy, "test/mutants/kill.ts"), by], {
      cwd: root,
    });
    let said = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), maxMs);
    child.stderr.on("data", (text: Buffer) => {
      said += text.toString();
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, said });
    });
  });
}

/** True when the mutant was noticed, or was said to make no difference. */
async function tryMutant({ file, from, to, by, survives }: Mutant): Promise<boolean> {
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  const title = `${file}: ${from.split("\n")[0]?.slice(0, 60)} → ${to.split("\n")[0]?.slice(0, 60) || "(nothing)"}`;
  if (!source.includes(from)) {
    process.stdout.write(`not there  ${title}\n`);
    return false;
  }
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const { code, said } = await check(by);
  writeFileSync(path, source);
  const found = code !== 0;
  const law = /breaks the law ([a-z-]+)/.exec(said)?.[1] ?? /Error: (.{0,60})/.exec(said)?.[1] ?? "";
  if (found) process.stdout.write(`killed     ${title}  [${law}]\n`);
  else
    process.stdout.write(
      `${survives ? "equivalent" : "SURVIVED  "} ${title}${survives ? `  (${survives})` : ""}\n`,
    );
  return found || survives !== undefined;
}

/** `npm run mutants -- hash-chain` tries those of one file. */
const chosen = mutants.filter(({ file }) => file.includes(process.argv[2] ?? ""));
let failed = 0;
try {
  for (const folder of folders) cpSync(join(root, folder), join(copy, folder), { recursive: true });
  // Without it the copy would belong to no package, and its files would be CommonJS.
  writeFileSync(join(copy, "package.json"), '{"type":"module"}');
  for (const by of new Set(chosen.map((mutant) => mutant.by))) {
    const { code, said } = await check(by);
    if (code === 0) continue;
    process.stdout.write(`the unchanged source fails the check "${by}":\n${said}\n`);
    failed += 1;
  }
  if (failed === 0) for (const mutant of chosen) failed += (await tryMutant(mutant)) ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(`${chosen.length} mutants, ${failed} of them not noticed\n`);
process.exitCode = failed === 0 ? 0 : 1;
