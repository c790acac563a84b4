import { layout } from "virtual:statechart-layout";
import { useId } from "react";
import { useValue } from "../../api/value-store.ts";
import { language } from "../../i18n/language.ts";
import type { StatechartLayout } from "../../machine/statechart-layout.ts";
import { stateWord } from "./words.ts";

type Way = StatechartLayout["ways"][number];
type Point = StatechartLayout["lines"][number]["points"][number];

/** Radius of the corners of a way. */
const corner = 6;

function towards([x, y]: Point, [toX, toY]: Point, most: number): Point {
  const length = Math.hypot(toX - x, toY - y);
  const part = length === 0 ? 0 : Math.min(most, length / 2) / length;
  return [x + (toX - x) * part, y + (toY - y) * part];
}

/** A path through points, its corners rounded. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = rest.map((point, index) => {
    const next = rest[index + 1];
    if (!next) return `L${point.join(" ")}`;
    const before = towards(point, points[index] ?? point, corner);
    const after = towards(point, next, corner);
    return `L${before.join(" ")}Q${point.join(" ")} ${after.join(" ")}`;
  });
  return `M${first.join(" ")}${parts.join("")}`;
}

/** The lifecycle as a picture: the current state lit, the ways that were taken last drawn bold. */
export function Statechart({
  current,
  taken,
  label,
}: {
  readonly current: string;
  readonly taken: readonly Way[];
  readonly label: string;
}) {
  const chosen = useValue(language);
  const arrow = useId();
  const bold = useId();
  const faint = useId();
  const isTaken = (name: string) => taken.some(({ line }) => line === name);
  // What is bold lies on top.
  const weight = ({ name, main }: StatechartLayout["lines"][number]) => (isTaken(name) ? 2 : main ? 1 : 0);
  const ordered = [...layout.lines].sort((a, b) => weight(a) - weight(b));
  const word = (name: string) => stateWord(name, chosen);
  return (
    <svg
      className="statechart"
      viewBox={`-4 -4 ${layout.width + 8} ${layout.height + 8}`}
      width={layout.width + 8}
      height={layout.height + 8}
      role="img"
      aria-label={label}
    >
      <defs>
        {[faint, arrow, bold].map((id) => (
          <marker
            key={id}
            id={id}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth={id === bold ? 11 : 8}
            markerHeight={id === bold ? 11 : 8}
            orient="auto"
          >
            <path
              className={id === bold ? "arrow taken" : id === arrow ? "arrow main" : "arrow"}
              d="M0 0.5 8 4 0 7.5z"
            />
          </marker>
        ))}
      </defs>
      {layout.states
        .filter(({ group }) => group)
        .map(({ name, x, y, width, height }) => (
          <g key={name} className="state group">
            <rect x={x} y={y} width={width} height={height} rx="10" />
            <text x={x + 14} y={name === "rest" ? y + height / 2 : y + 22} dominantBaseline="central">
              {word(name)}
            </text>
          </g>
        ))}
      {ordered.map(({ name, main, points }) => (
        <path
          key={name}
          className={isTaken(name) ? "way taken" : main ? "way main" : "way"}
          data-line={name}
          d={pathOf(points)}
          markerEnd={`url(#${isTaken(name) ? bold : main ? arrow : faint})`}
        />
      ))}
      {layout.states
        .filter(({ group }) => !group)
        .map(({ name, x, y, width, height }) => (
          <g key={name} className={name === current ? "state current" : "state"} data-state={name}>
            <rect x={x} y={y} width={width} height={height} rx="7" />
            {name === current && <circle cx={x + 14} cy={y + height / 2} r="4" />}
            <text
              x={x + width / 2 + (name === current ? 7 : 0)}
              y={y + height / 2}
              textAnchor="middle"
              dominantBaseline="central"
            >
              {word(name)}
            </text>
          </g>
        ))}
    </svg>
  );
}
