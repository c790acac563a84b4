import { expect, test } from "vitest";
import { drawChart } from "../../bench/chart.ts";

const chart = {
  file: "a.svg",
  title: "Bytes <per> turn",
  x: "turns",
  y: "kB",
  lines: [
    { name: "a & b", points: [[10, 100] as const, [100, 10] as const] },
    { name: "c", points: [[10, 1] as const, [100, 1] as const] },
  ],
};

test("points are placed by their logarithm: what falls tenfold goes down by one decade", () => {
  const svg = drawChart(chart);
  const lines = [...svg.matchAll(/points="([^"]+)"/g)].map(([, points = ""]) =>
    points.split(" ").map((point) => point.split(",").map(Number)),
  );
  expect(lines).toHaveLength(2);
  const [[start, end] = [], [low] = []] = lines;
  // 100, 10 and 1 stand at equal distances, and more is higher up.
  expect((end?.[1] ?? 0) - (start?.[1] ?? 0)).toBeCloseTo((low?.[1] ?? 0) - (end?.[1] ?? 0), 0);
  expect(start?.[1]).toBeLessThan(end?.[1] ?? 0);
  expect(end?.[0]).toBeGreaterThan(start?.[0] ?? 0);
});

test("names cannot break the markup", () => {
  const svg = drawChart(chart);
  expect(svg).toContain("a &amp; b");
  expect(svg).toContain("Bytes &lt;per&gt; turn");
});
