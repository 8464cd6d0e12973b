// What is said and counted of trajectories waits until the picture has shown them.

export class Due {
  constructor() {
    this.waiting = [];
  }

  // `number`: the newest trajectory that these are of; with the first of a run nothing from before it counts.
  take(number, words, walk, fresh) {
    if (fresh) this.waiting = [];
    this.waiting.push({ number, words, walk });
  }

  // The latest that are of no trajectory after this one; where all are, the first.
  at(number) {
    while (this.waiting.length > 1 && this.waiting[1].number <= number) this.waiting.shift();
    return this.waiting[0] || null;
  }
}
