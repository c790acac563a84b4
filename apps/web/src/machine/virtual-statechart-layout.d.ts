declare module "virtual:statechart-layout" {
  export const layout: import("./statechart-layout.ts").StatechartLayout;
}
