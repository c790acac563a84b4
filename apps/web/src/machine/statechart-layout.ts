/** Where the states of the lifecycle and the ways between them are drawn, in pixels. Made while the page is built. */
export interface StatechartLayout {
  readonly width: number;
  readonly height: number;
  readonly initial: string;
  readonly states: readonly {
    readonly name: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    /** It holds other states. */
    readonly group: boolean;
  }[];
  readonly ways: readonly {
    readonly from: string;
    readonly to: string;
    /** Conditions, any of which leads this way. */
    readonly when: readonly string[];
    /** Line that is drawn for it. */
    readonly line: string;
  }[];
  readonly lines: readonly {
    readonly name: string;
    /** The way that a run takes when nothing special happens. */
    readonly main: boolean;
    readonly points: readonly (readonly [x: number, y: number])[];
  }[];
}
