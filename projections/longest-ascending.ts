/** Places of a longest ascending run among numbers from 0 on; -1 is left out. Takes time n log n. */
export function longestAscending(numbers: readonly number[]): Set<number> {
  // tails[n] is the place of the smallest number that ends a run of n + 1.
  const tails: number[] = [];
  const before: number[] = [];
  for (const [place, number] of numbers.entries()) {
    before.push(-1);
    if (number === -1) continue;
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[tails[middle] ?? -1] ?? -1) < number) low = middle + 1;
      else high = middle;
    }
    before[place] = tails[low - 1] ?? -1;
    tails[low] = place;
  }
  const places = new Set<number>();
  for (let place = tails.at(-1) ?? -1; place !== -1; place = before[place] ?? -1) places.add(place);
  return places;
}
