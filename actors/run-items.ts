/** Items that are pushed now and read at any pace: every reader sees all of them from the first. */
export interface RunItems<Item> extends AsyncIterable<Item> {
  push(item: Item): void;
  /** No more items come; readers end, or fail with `error`. */
  end(error?: unknown): void;
}

/**
 * Makes an empty list of items.
 *
 * @example
 * const items = createRunItems<number>();
 * items.push(1);
 * items.end();
 * for await (const item of items) … // 1
 */
export function createRunItems<Item>(): RunItems<Item> {
  const items: Item[] = [];
  let ended: { readonly error: unknown } | undefined;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const all = waiting;
    waiting = [];
    for (const resume of all) resume();
  };
  return {
    push(item) {
      if (ended) return;
      items.push(item);
      wake();
    },
    end(error) {
      ended ??= { error };
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (let index = 0; ; index++) {
        while (index >= items.length) {
          if (ended?.error !== undefined) throw ended.error;
          if (ended) return;
          await new Promise<void>((resolve) => waiting.push(resolve));
        }
        yield items[index] as Item;
      }
    },
  };
}
