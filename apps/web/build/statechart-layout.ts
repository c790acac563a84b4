import ElkConstructor, { type ElkExtendedEdge, type ElkNode } from "elkjs/lib/elk.bundled.js";
import type { Plugin } from "vite";
import { restStates, threadMachineDefinition } from "../../../actors/lifecycle.ts";
import type { StatechartLayout } from "../src/machine/statechart-layout.ts";

const source = "virtual:statechart-layout";
const resolved = `\0${source}`;

/** Width of a state's box by its name, in pixels. */
const widthOf = (name: string) => Math.max(80, name.length * 9 + 24);
const stateHeight = 40;

const { states, transitions, phases, initial } = threadMachineDefinition;
const isPhase = (name: string) => phases.some((phase) => phase === name);
const isRest = (name: string) => restStates.some((state) => state === name);

/** Ends of the line that is drawn for a way. What all states of a group have in common leaves from the group. */
function lineOf(from: string, to: string): { readonly from: string; readonly to: string } {
  if (isRest(from)) return { from: "rest", to };
  if (isPhase(from) && from !== "afterAgent" && to === "settling") return { from: "running", to };
  return { from, to };
}

/** Place of a state in the order in which a run passes through them. */
const rankOf = (name: string) => ["rest", ...phases, "running", "settling", "passivated"].indexOf(name);

/** What happens when nothing special does. */
const mainConditions = /^(?:otherwise|a run starts|no calls are open|RunCompleted)/;

/** Places of the lifecycle's states and ways. Several ways between two states are one arrow with several conditions. */
export async function layOutStatechart(): Promise<StatechartLayout> {
  const box = (name: string): ElkNode => ({ id: name, width: widthOf(name), height: stateHeight });
  const ways = new Map<string, { from: string; to: string; when: string[]; line: string }>();
  const lines = new Map<string, { from: string; to: string; main: boolean }>();
  for (const { from, to, when } of transitions) {
    const ends = lineOf(from, to);
    const line = `${ends.from}→${ends.to}`;
    const way = ways.get(`${from}→${to}`) ?? { from, to, when: [], line };
    way.when.push(when);
    ways.set(`${from}→${to}`, way);
    const main = (lines.get(line)?.main ?? false) || mainConditions.test(when);
    lines.set(line, { ...ends, main });
  }
  const edges: ElkExtendedEdge[] = [...lines].map(([id, { from, to, main }]) => ({
    id,
    sources: [from],
    targets: [to],
    layoutOptions: {
      "elk.layered.priority.straightness": main ? "10" : "1",
      // Down is where the time goes.
      "elk.layered.priority.direction": String(rankOf(to) > rankOf(from) ? (main ? 100 : 10) : 0),
    },
  }));
  const group = (id: string, members: readonly string[], padding: string): ElkNode => ({
    id,
    layoutOptions: { "elk.padding": padding, "elk.direction": "DOWN" },
    children: members.map(box),
  });
  const graph: ElkNode = {
    id: "thread",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "DOWN",
      "elk.hierarchyHandling": "INCLUDE_CHILDREN",
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.json.edgeCoords": "ROOT",
      "elk.json.shapeCoords": "ROOT",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
      "elk.spacing.nodeNode": "20",
      "elk.layered.spacing.nodeNodeBetweenLayers": "30",
      "elk.layered.spacing.edgeEdgeBetweenLayers": "8",
      "elk.layered.spacing.edgeNodeBetweenLayers": "12",
      "elk.spacing.edgeEdge": "9",
      "elk.spacing.edgeNode": "14",
    },
    children: [
      // Room for the name: beside its states, and above them.
      group("rest", restStates, "[top=16,left=90,bottom=16,right=16]"),
      group("running", phases, "[top=40,left=16,bottom=16,right=16]"),
      ...states.filter((name) => !isPhase(name) && !isRest(name)).map(box),
    ],
    edges,
  };
  const placed = await new ElkConstructor().layout(graph);
  const boxes = (placed.children ?? []).flatMap((node) => [node, ...(node.children ?? [])]);
  return {
    width: Math.ceil(placed.width ?? 0),
    height: Math.ceil(placed.height ?? 0),
    initial,
    states: boxes.map(({ id, x = 0, y = 0, width = 0, height = 0, children = [] }) => ({
      name: id,
      x: Math.round(x),
      y: Math.round(y),
      width: Math.round(width),
      height: Math.round(height),
      group: children.length > 0,
    })),
    ways: [...ways.values()],
    lines: (placed.edges ?? []).map((edge) => {
      const points = (edge.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
        startPoint,
        ...bendPoints,
        endPoint,
      ]);
      return {
        name: edge.id,
        main: lines.get(edge.id)?.main ?? false,
        points: points.map(({ x, y }) => [Math.round(x), Math.round(y)] as const),
      };
    }),
  };
}

/** Lays the statechart out while the page is built: the layout library is ten times larger than the page. */
export function statechartLayout(): Plugin {
  return {
    name: "statechart-layout",
    resolveId: (id) => (id === source ? resolved : undefined),
    async load(id) {
      if (id !== resolved) return undefined;
      return `export const layout = ${JSON.stringify(await layOutStatechart())};`;
    },
  };
}
