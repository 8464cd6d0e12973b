// Where a recorded run is being played: after so many events, and on the way to more.

import { MODES } from "./bar.js";

const SOON = 30; // Seconds in which sweeps come to what the run comes to, unless a hand has chosen another pace.
const SWEEPS = MODES.findIndex(({ id }) => id === "sweep");
const LOOPED = 3; // Sweeps a second of an oscillation that is shown again and again.

export class Playhead {
  // `still`: without flights, where motion is not wanted. What `opens` plays as soon as it is there; before a class it
  // waits for Play, so that the question comes before its answer.
  constructor(still, opens = true) {
    this.still = still;
    this.speeds = MODES.map((mode) => mode.speed);
    this.chosen = new Set(); // Ways whose pace is a hand's.
    this.mode = 0;
    this.playing = false;
    this.wanted = !still && opens;
    this.rest();
  }

  // Another run begins to play, unless the person has stopped the one before: that one's end is no reason.
  take(replay) {
    this.replay = replay;
    this.rest();
    this.hasten();
    this.playing = this.wanted;
  }

  // Of a run of many sweeps a pace at which its end is not waited for.
  hasten() {
    if (this.chosen.has(SWEEPS)) return;
    const { speed, speeds } = MODES[SWEEPS];
    const { milestones } = this.replay.record;
    const least = Math.max(speed, milestones[milestones.length - 1][0] / SOON);
    this.speeds[SWEEPS] = speeds.find((each) => each >= least) || speeds[speeds.length - 1];
  }

  choose(speed) {
    this.speeds[this.mode] = speed;
    this.chosen.add(this.mode);
  }

  stop() {
    this.playing = false;
    this.wanted = false;
  }

  rest() {
    this.head = 0;
    this.credit = 0;
    this.once = false;
    this.flight = null;
    this.looping = false;
  }

  get way() {
    return MODES[this.mode].id;
  }

  get moving() {
    return this.playing || this.once;
  }

  // Whether it holds at the end of the sweep from which on nothing changes, though there are more.
  get rests() {
    const { head, replay } = this;
    const [sweep, status] = this.milestone();
    return !this.moving && !this.flight && head < replay.total && ["exact", "converged"].includes(status) && head === replay.startOf(sweep);
  }

  // [sweep, status, words] of the last milestone that the run has come to.
  milestone() {
    const played = this.replay.done(this.head);
    return this.replay.record.milestones.filter(([sweep]) => sweep <= played).pop();
  }

  setMode(mode) {
    this.mode = mode;
    this.flight = null;
    this.once = false;
  }

  toggle() {
    this.once = false;
    this.playing = !this.playing;
    this.wanted = this.playing;
    this.looping = false;
    if (this.playing && this.head >= this.replay.total) this.moveTo(0);
  }

  moveTo(event) {
    this.flight = null;
    this.looping = false;
    this.head = Math.max(0, Math.min(this.replay.total, event));
  }

  // One message on (in the modes by sweeps: one sweep), on its way if motion is wanted.
  step() {
    this.stop();
    if (this.flight) return this.land();
    if (this.head >= this.replay.total) return;
    if (this.way === "message" && !this.still) {
      this.depart();
      this.once = true;
      return;
    }
    this.moveTo(this.way === "message" ? this.head + 1 : this.sweepEnd());
  }

  back() {
    this.stop();
    if (this.flight) {
      this.flight = null;
      return;
    }
    if (!this.head) return;
    this.moveTo(this.way === "message" ? this.head - 1 : this.replay.startOf(this.replay.done(this.head - 1)));
  }

  sweepEnd() {
    return this.replay.record.ends[this.replay.done(this.head)];
  }

  // Go on by so many seconds.
  advance(seconds) {
    const share = seconds * (this.looping && this.way === "run" ? Math.min(LOOPED, this.speeds[this.mode]) : this.speeds[this.mode]);
    if (this.way === "run" || this.still) this.glide(share);
    else this.fly(share);
    if (this.head < this.replay.total || this.flight) return;
    if (this.playing && this.milestone()[1] === "oscillating") return this.loop();
    this.playing = false;
    this.once = false;
  }

  // What repeats itself has no end: its last period once more. Without flights the end is seen before it begins again.
  loop() {
    if (this.way !== "run" && !this.still) this.moveTo(this.periodStart());
    this.looping = true;
  }

  periodStart() {
    return this.replay.startOf(this.replay.sweeps - this.replay.record.period);
  }

  // Without flights: whole sweeps, or whole messages where motion is reduced.
  glide(share) {
    this.credit += share;
    for (; this.credit >= 1 && (this.looping || this.head < this.replay.total); this.credit -= 1) {
      if (this.head >= this.replay.total) this.head = this.periodStart();
      this.head = this.way === "message" ? this.head + 1 : this.sweepEnd();
    }
  }

  // A message takes its own time; those of a sweep share it, in parallel all of one direction at once.
  fly(share) {
    if (!this.flight) this.depart();
    if (!this.flight) return;
    this.flight.share += share * this.flight.pace;
    while (this.flight && this.flight.share >= 1) {
      const over = (this.flight.share - 1) / this.flight.pace;
      this.land();
      if (this.once || !this.playing) {
        this.once = false;
        return;
      }
      this.depart();
      if (this.flight) this.flight.share = over * this.flight.pace;
    }
  }

  depart() {
    if (this.head >= this.replay.total) return;
    const sweeping = this.way === "sweep";
    const together = sweeping && this.replay.record.schedule === "parallel";
    const [from, to] = this.replay.groupAt(this.head, together);
    const sweep = this.replay.done(this.head);
    const whole = this.replay.startOf(sweep + 1) - this.replay.startOf(sweep);
    this.flight = { from, to, share: 0, pace: sweeping ? (together ? 2 : whole) : 1 };
  }

  // Where nothing changes any more the play head rests by itself, once: Play goes on.
  land() {
    if (!this.flight) return;
    const before = this.milestone()[1];
    this.head = this.flight.to;
    this.flight = null;
    const now = this.milestone()[1];
    if (before !== now && ["exact", "converged"].includes(now)) this.playing = false;
  }

  // The one message that is on its way, or -1.
  single() {
    return this.flight && this.flight.to === this.flight.from + 1 ? this.flight.from : -1;
  }
}
