// What every component is made of: a `Component` lasts from its mount to its end in the page's colours; a `Stage` also
// plays, hears keys and sends events; `Live`, in live.js, also shows lanes of a run on the server. A new one extends
// the one it needs and exports `mounted(It)`.

import { tellOnClick } from "./ask.js";
import { enlarged, make, readTheme } from "./theme.js";

const LOOK_MS = 700;
const OUTBOX_MS = 30000;
const OUTBOX_MOST = 64;
const ANNOUNCE_MS = 5000;
const LATE_MS = 400;
const DAMAGED = "This update arrived damaged; the last picture is kept, and the next update replaces it.";
const KEYS = { " ": "play", n: "step", b: "back", s: "share" };
const TYPING = "input:not([type=range]), textarea, select, [contenteditable=true]";
// What Space does something to; it does nothing to links and sliders but scroll their page.
const CONTROL = `${TYPING}, button, input:not([type=range]), summary, [role=button], [role=application]`;
const MOVES = ["Tab", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

// Whether the focus was moved by keys: Space is then the control's own, as it must be for those who use no mouse; a
// control that was only clicked lets it through.
let byKeys = true;
document.addEventListener("pointerdown", () => (byKeys = false), true);
document.addEventListener("keydown", (event) => (byKeys = byKeys || MOVES.includes(event.key)), true);

// A list that something was chosen from, by the pointer or with Enter, keeps the focus, though nobody types there any more.
let picked = null;
document.addEventListener("keydown", ({ key, target }) => (picked = key === "Enter" ? target : MOVES.includes(key) ? null : picked), true);
const chosen = (focus) => (!byKeys || focus === picked) && focus.matches("[role=combobox][aria-expanded=false], select");

const HANDS = ["undo", "redo"];

// What a key asks for.
function keyed({ key, ctrlKey, metaKey, shiftKey }) {
  const letter = key.toLowerCase();
  if (!ctrlKey && !metaKey) return KEYS[letter];
  if (letter === "z") return shiftKey ? "redo" : "undo";
  return letter === "y" ? "redo" : undefined;
}

// Streamlit calls this once for each update; the component itself is made once for each mount and kept, so that zoom,
// focus and what was seen survive. What a person does goes back under `name`.
export function mounted(Kind, name = "outbox") {
  const kept = new WeakMap();
  return ({ data, parentElement, setStateValue }) => {
    let component = kept.get(parentElement);
    if (!component || component.gone) {
      component = new Kind(parentElement);
      kept.set(parentElement, component);
    }
    component.send = (value) => setStateValue(name, value);
    component.receive(data);
    return () => component.leave();
  };
}

// Brings `receive(data)` and `themed()`, which draws in another theme.
export class Component {
  constructor(parent, name) {
    this.mount = Math.random().toString(36).slice(2);
    this.number = 0;
    this.root = make("div", name);
    parent.append(this.root);
    tellOnClick(this.root);
    this.theme = readTheme(this.root);
    this.enlarge();
    this.watch = setInterval(() => this.look(), LOOK_MS);
  }

  // A cleanup may belong to an update that a newer one has overtaken: only a component off the page ends.
  leave() {
    setTimeout(() => this.root.isConnected || this.end(), 50);
  }

  end() {
    this.gone = true;
    clearInterval(this.watch);
  }

  // Before a class what is not needed there is folded away.
  enlarge() {
    this.large = enlarged() > 1;
    this.root.classList.toggle("pv-large", this.large);
  }

  look() {
    if (!this.root.isConnected) return this.end();
    this.enlarge();
    const theme = readTheme(this.root);
    if (theme.id === this.theme.id) return;
    this.theme = theme;
    this.themed();
  }
}

// Brings `layout()`, `play(passed, now)`, which draws and gives back whether more is to come, `act(name)`, and a
// `bar` with a button for each key.
export class Stage extends Component {
  constructor(parent, name) {
    super(parent, name);
    this.outbox = []; // Events of the last while that no update has answered yet, with when they were sent.
    this.repeating = []; // What a key that is held down does again and again.
    this.trouble = make("div", "pv-trouble");
    this.trouble.setAttribute("role", "alert");
    this.spoken = make("div", "pv-spoken");
    this.spoken.setAttribute("aria-live", "polite");
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.scheme();
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey, true);
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(this.root);
  }

  end() {
    super.end();
    document.removeEventListener("keydown", this.onKey, true);
    this.observer.disconnect();
    clearTimeout(this.unsaid);
    this.rest();
  }

  themed() {
    this.scheme();
    this.wake();
  }

  scheme() {
    this.root.style.colorScheme = this.theme.dark ? "dark" : "light";
  }

  // The update in these bytes; null where there is none, or a damaged one, of which `words` tell.
  read(bytes, decode, words = DAMAGED) {
    if (!(bytes instanceof Uint8Array)) return null;
    try {
      const update = decode(bytes);
      // What it answers need not go out again.
      const [mount, number] = update?.answered || ["", 0];
      if (mount === this.mount) {
        this.outbox = this.outbox.filter(({ event }) => event.number > number);
        this.root.dataset.answered = number;
      }
      return update;
    } catch {
      this.complain(words);
      return null;
    }
  }

  complain(sentence) {
    if (this.trouble.textContent !== sentence) this.trouble.textContent = sentence;
  }

  announce(text, every = ANNOUNCE_MS) {
    const now = performance.now();
    clearTimeout(this.unsaid);
    if (!text || text === this.spoken.textContent) return;
    const left = this.announced ? this.announced + every - now : 0;
    if (left > 0) {
      // What is not said at once is said later, unless something newer is to be said by then.
      this.unsaid = setTimeout(() => this.announce(text, every), left);
      return;
    }
    this.announced = now;
    this.spoken.textContent = text;
  }

  // Events go out with those of the last while that are not answered, numbered: one that is lost comes with the next,
  // and none counts twice.
  post(event) {
    const now = performance.now();
    this.root.dataset.sent = this.number += 1;
    this.outbox = this.outbox.filter((old) => now - old.at < OUTBOX_MS).slice(1 - OUTBOX_MOST);
    this.outbox.push({ at: now, event: { ...event, number: this.number } });
    if (this.send) this.send({ mount: this.mount, events: this.outbox.map((entry) => entry.event) });
  }

  key(event) {
    if (event.defaultPrevented || event.altKey) return;
    const focus = document.activeElement;
    const dialog = document.querySelector("[role=dialog]");
    if (dialog) return this.leaveDialog(dialog, event, focus);
    const name = keyed(event);
    const within = (what) => Boolean(focus && focus.closest(what));
    if (!name || (within(TYPING) && !chosen(focus)) || (name === "play" && byKeys && within(CONTROL) && !chosen(focus))) return;
    // Space never scrolls, where there is nothing to play either.
    if (name === "play") event.preventDefault();
    if (!HANDS.includes(name) && !this.bar.buttons[name]) return;
    event.preventDefault();
    event.stopPropagation();
    // A button that was clicked before would be pressed again when the key is let go.
    if (name === "play") document.addEventListener("keyup", (up) => up.preventDefault(), { once: true, capture: true });
    if (!event.repeat || this.repeating.includes(name)) this.act(name);
    if (name === "play") this.comeInSight();
  }

  // What begins to move beneath the window is brought into it.
  comeInSight() {
    const { play } = this.bar.buttons;
    if (play && play.getBoundingClientRect().top > window.innerHeight) this.root.scrollIntoView({ block: "nearest" });
  }

  // A download button gives up the focus while its file is made, and the dialog then no longer hears Escape.
  leaveDialog(dialog, event, focus) {
    if (event.key === "Escape" && focus === document.body) dialog.querySelector("[aria-label=Close]")?.click();
  }

  // A window that is covered may get no animation frames: a timer then keeps the picture from standing still.
  wake() {
    if (this.request || this.gone) return;
    this.request = requestAnimationFrame((now) => this.frame(now));
    this.late = setTimeout(() => this.frame(performance.now()), LATE_MS);
  }

  rest() {
    cancelAnimationFrame(this.request);
    clearTimeout(this.late);
    this.request = null;
  }

  frame(now) {
    this.rest();
    if (!this.root.isConnected) return;
    const passed = Math.min(250, now - (this.before || now));
    this.before = now;
    if (this.play(passed, now)) this.wake();
    else this.before = null;
  }
}
