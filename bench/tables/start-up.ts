import { builtPackage } from "../build.ts";
import { cheapest } from "../run-child.ts";
import { type BenchOptions, type Measured, milliseconds, type Ratio } from "./table.ts";

const rounds = 5;
/** Milliseconds more than an empty process. */
const budget = 150;

/** Start of a process that imports the package, and of `threadfold --help`, against a process that does nothing. */
export async function measureStartUp({ log }: BenchOptions): Promise<Measured> {
  const dist = await builtPackage();
  const url = (file: string) => JSON.stringify(new URL(file, dist).href);
  log("start-up");
  const empty = await cheapest("", rounds);
  const help = `process.argv.push("threadfold", "--help"); await import(${url("cli.js")});`;
  const starts = [
    { name: "import the package", ...(await cheapest(`await import(${url("index.js")});`, rounds)) },
    { name: "threadfold --help", ...(await cheapest(help, rounds)) },
  ];
  const ratios: Ratio[] = starts.map(({ name, cpu }) => {
    const value = cpu - empty.cpu;
    return { name: `${name}, CPU more than an empty process`, value, target: { atMost: budget }, unit: "ms" };
  });
  return {
    tables: [
      {
        title: `Start-up, the cheapest of ${rounds}`,
        head: ["what", "CPU", "more than an empty process", "wall"],
        rows: [{ name: "an empty process", ...empty }, ...starts].map(({ name, cpu, wall }) => [
          name,
          milliseconds(cpu),
          milliseconds(cpu - empty.cpu),
          milliseconds(wall),
        ]),
      },
    ],
    ratios,
    charts: [],
  };
}
