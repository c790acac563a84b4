import type { Chart } from "./tables/table.ts";

const size = { width: 720, height: 400, left: 70, right: 20, top: 40, bottom: 130 };
const colors = ["#1b6ef3", "#7db0ff", "#8a8f98", "#d9480f", "#f59f00", "#7048e8"];

const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Powers of ten around the values. */
function decades(values: readonly number[]): [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

/** Draws the lines of a chart as SVG text, both axes logarithmic. Values must be above zero. */
export function drawChart({ title, x, y, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points);
  const [xFrom, xTo] = decades(points.map(([value]) => value));
  const [yFrom, yTo] = decades(points.map(([, value]) => value));
  const plotWidth = size.width - size.left - size.right;
  const plotHeight = size.height - size.top - size.bottom;
  const across = (value: number) =>
    (size.left + (plotWidth * (Math.log10(value) - xFrom)) / (xTo - xFrom)).toFixed(1);
  const up = (value: number) =>
    (size.top + plotHeight * (1 - (Math.log10(value) - yFrom) / (yTo - yFrom))).toFixed(1);
  const powers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));
  const right = size.width - size.right;
  const floor = size.height - size.bottom;
  const grid = [
    ...powers(yFrom, yTo).map(
      (value) =>
        `<line x1="${size.left}" x2="${right}" y1="${up(value)}" y2="${up(value)}" stroke="#dee2e6"/>` +
        `<text x="${size.left - 8}" y="${up(value)}" dy="4" text-anchor="end">${value.toLocaleString("en")}</text>`,
    ),
    ...powers(xFrom, xTo).map(
      (value) =>
        `<text x="${across(value)}" y="${floor + 18}" text-anchor="middle">${value.toLocaleString("en")}</text>`,
    ),
  ];
  const drawn = lines.map(({ name, points: own }, index) => {
    const color = colors[index % colors.length];
    const path = own.map(([px, py]) => `${across(px)},${up(py)}`).join(" ");
    const dots = own.map(([px, py]) => `<circle cx="${across(px)}" cy="${up(py)}" r="3.5" fill="${color}"/>`);
    const legendX = size.left + (index % 2) * (plotWidth / 2);
    const legendY = floor + 60 + Math.floor(index / 2) * 20;
    const legend = `<rect x="${legendX}" y="${legendY - 9}" width="12" height="10" fill="${color}"/><text x="${legendX + 18}" y="${legendY}">${escapeText(name)}</text>`;
    return `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>${dots.join("")}${legend}`;
  });
  const label = `<text x="${right}" y="${floor + 36}" text-anchor="end">${escapeText(x)}</text>`;
  const heading = `<text x="${size.left}" y="24" font-size="16" font-weight="600">${escapeText(title)} (${escapeText(y)})</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="system-ui, sans-serif" font-size="12" fill="#343a40">`,
    `<rect width="${size.width}" height="${size.height}" fill="#fff"/>`,
    heading,
    label,
    ...grid,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}
