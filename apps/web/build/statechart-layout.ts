import ElkConstructor, { type ElkExtendedEdge, type ElkNode } from "elkjs/lib/elk.bundled.js";
import type { Plugin } from "vite";
import { threadMachineDefinition } from "../../../actors/lifecycle.ts";
import type { StatechartLayout } from "../src/machine/statechart-layout.ts";

const source = "virtual:statechart-layout";
const resolved = `\0${source}`;

/** Width of a state's box by its name, in pixels. */
const widthOf = (name: string) => Math.max(96, name.length * 8 + 32);
const stateHeight = 36;

/** Places of the lifecycle's states and ways. Several ways between two states are one arrow with several conditions. */
export async function layOutStatechart(): Promise<StatechartLayout> {
  const { states, transitions, phases, initial } = threadMachineDefinition;
  const isPhase = (name: string) => phases.some((phase) => phase === name);
  const box = (name: string): ElkNode => ({ id: name, width: widthOf(name), height: stateHeight });
  const ways = new Map<string, { from: string; to: string; when: string[] }>();
  for (const { from, to, when } of transitions) {
    const key = `${from}→${to}`;
    const way = ways.get(key) ?? { from, to, when: [] };
    way.when.push(when);
    ways.set(key, way);
  }
  const edges: ElkExtendedEdge[] = [...ways].map(([id, { from, to }]) => ({
    id,
    sources: [from],
    targets: [to],
  }));
  const graph: ElkNode = {
    id: "thread",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "DOWN",
      "elk.hierarchyHandling": "INCLUDE_CHILDREN",
      "elk.edgeRouting": "ORTHOGONAL",
      "elk.json.edgeCoords": "ROOT",
      "elk.json.shapeCoords": "ROOT",
      "elk.spacing.nodeNode": "28",
      "elk.layered.spacing.nodeNodeBetweenLayers": "34",
      "elk.spacing.edgeEdge": "10",
      "elk.spacing.edgeNode": "14",
    },
    children: [
      ...states.filter((name) => !isPhase(name)).map(box),
      {
        id: "running",
        layoutOptions: { "elk.padding": "[top=34,left=16,bottom=16,right=16]", "elk.direction": "DOWN" },
        children: phases.map(box),
      },
    ],
    edges,
  };
  const placed = await new ElkConstructor().layout(graph);
  const boxes = (placed.children ?? []).flatMap((node) => [node, ...(node.children ?? [])]);
  return {
    width: Math.ceil(placed.width ?? 0),
    height: Math.ceil(placed.height ?? 0),
    initial,
    states: boxes.map(({ id, x = 0, y = 0, width = 0, height = 0 }) => ({
      name: id,
      x: Math.round(x),
      y: Math.round(y),
      width: Math.round(width),
      height: Math.round(height),
      group: id === "running",
    })),
    ways: (placed.edges ?? []).map((edge) => {
      const { from = "", to = "", when = [] } = ways.get(edge.id) ?? {};
      const points = (edge.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
        startPoint,
        ...bendPoints,
        endPoint,
      ]);
      return { from, to, when, points: points.map(({ x, y }) => [Math.round(x), Math.round(y)] as const) };
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
