"""Parts of charts, each asked for what it draws: marks, words at the pointer, axes, shades."""

import pytest

from tests.browser import stage

SMALL = {"model": "square:4x4,J=0.2", "chains": "16", "budget": "2000"}

PLACED = """async ([marks, left, right]) => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("marks.js"));
  const { grouped } = await import(loaded);
  return grouped(marks, left, right, (text) => 6 * text.length);
}"""


MODULE = """const loaded = performance.getEntriesByType("resource").map((e) => e.name);
  const of = (name) => import(loaded.find((address) => address.endsWith(name)));"""


# How much of each line is drawn while lane 0 shows its picture of sweep 2 and has later ones, lane 1 its newest.
SHOWN = f"""async (x) => {{ {MODULE}
  const {{ shown }} = await of("/lines.js");
  const line = (lane, ghost) => ({{ lane, ghost, x: [1, 2, 3], y: [5, 6, 7], low: null }});
  const lines = [line("0"), line("1"), line("0", true)];
  const {{ Live }} = await of("/live.js");
  const lanes = [{{ queue: [0], shown: {{ sweep: 2 }} }}, {{ queue: [], shown: {{ sweep: 3 }} }}];
  const heads = {{ seconds: false, of: Live.prototype.headsBy.call({{ lanes }}, (frame) => frame.sweep) }};
  return shown({{ x, lines }}, heads).map(({{ y }}) => y);
}}"""


# A best bound of steps 0, 32 and 64, of which the last is the newest, where the picture is at step 50.
HELD = f"""async () => {{ {MODULE}
  const {{ shown }} = await of("/lines.js");
  const line = {{ lane: "0", held: true, x: [0, 32, 64], y: [9, 5, 5] }};
  const found = shown({{ x: "steps", lines: [line] }}, {{ seconds: false, of: [50] }})[0];
  return [found.x, found.y];
}}"""


# How much of a chart of measurements is drawn, by sweeps and by seconds, and the verdict that stands beside it: of a
# batch of sweeps 65 to 80 after sweep 40 that was measured at 64, with pictures of these sweeps on screen.
MEASURED = f"""async (sweeps) => {{ {MODULE}
  const [{{ shown }}, {{ Live }}] = [await of("/lines.js"), await of("/live.js")];
  const lane = {{ queue: [{{ sweep: 80 }}], shown: {{ sweep: 40 }} }};
  const told = [];
  const stage = {{ lanes: [lane], untold: [], at: null, saidEpoch: 1, measured: [32], moment: ({{ sweep }}) => sweep }};
  const [{{ tellDue }}, tell] = [Live.prototype, ([said]) => told.push(said)];
  Object.assign(stage, {{ tell, tellDue, dim() {{}}, chart() {{}} }});
  Live.prototype.say.call(stage, {{ epoch: 1, lanes: [{{ measured: 64 }}], said: ["of 64"] }});
  const line = {{ lane: "0", at: [32, 64], y: [5, 6] }};
  return sweeps.map((sweep) => {{
    lane.shown = {{ sweep }};
    stage.tellDue();
    const heads = {{ seconds: false, of: [sweep], measured: stage.measured }};
    const drawn = (x, places) => shown({{ x, lines: [{{ ...line, x: places }}] }}, heads)[0].y.length;
    return [drawn("sweeps", [32, 64]), drawn("seconds", [0.3, 0.6]), told.length];
  }});
}}"""


# What stands there after an update that waits, and after the next one, of which no picture has been shown yet.
WAITED = f"""async () => {{ {MODULE}
  const {{ Live }} = await of("/live.js");
  const told = [];
  const lane = {{ queue: [{{ sweep: 80 }}], shown: {{ sweep: 40 }} }};
  const stage = {{ lanes: [lane], untold: [], at: null, measured: [], moment: ({{ sweep }}) => sweep }};
  const tell = ([said]) => told.push(said.split(" ")[0]);
  Object.assign(stage, {{ tell, tellDue: Live.prototype.tellDue, dim() {{}}, chart() {{}} }});
  const say = (more) => Live.prototype.say.call(stage, {{ lanes: [{{}}], ...more }});
  lane.queue = [];
  say({{ epoch: 1, waits: true }});
  lane.queue = [{{ sweep: 80 }}];
  say({{ epoch: 2, said: ["New words."] }});
  say({{ epoch: 2, said: ["Later words."] }});
  return told;
}}"""


# What stands there after words of a picture that was missed, whose frame cannot be joined, and after it has come.
MISSED = f"""async () => {{ {MODULE}
  const {{ Live }} = await of("/live.js");
  const [told, lane] = [[], {{ queue: [], shown: {{ sweep: 0 }} }}];
  const stage = {{ lanes: [lane], untold: [], at: null, measured: [], behind: true, moment: ({{ sweep }}) => sweep }};
  const [{{ tellDue }}, tell] = [Live.prototype, ([said]) => told.push(said)];
  Object.assign(stage, {{ tell, tellDue, dim() {{}}, chart() {{}} }});
  Live.prototype.say.call(stage, {{ epoch: 1, lanes: [{{ frames: [{{ sweep: 1 }}] }}], said: ["of 1"] }});
  const before = told.length;
  Object.assign(lane, {{ shown: {{ sweep: 1 }} }});
  stage.behind = false;
  stage.tellDue();
  return [before, ...told];
}}"""


# What an update of sweep 8 of a draw, that of sweep 64, draws and says of it while sweep 62, 64 and 67 are on screen.
CHARTED = f"""async () => {{ {MODULE}
  const [{{ shown }}, {{ Player }}] = [await of("/lines.js"), await of("/player.js")];
  const [said, charts, lane] = [[], [], {{ queue: [{{ sweep: 72 }}], shown: {{ sweep: 62 }} }}];
  const traces = {{ adopt: ([trace]) => charts.push(trace.title) }};
  const stage = {{ lanes: [lane], untold: [], at: null, saidEpoch: 1, traces }};
  Object.setPrototypeOf(stage, Player.prototype);
  Object.assign(stage, {{ tell: ([words]) => said.push(words), dim() {{}}, hurry() {{}} }});
  const line = {{ lane: "0", begun: 64, x: [1, 2, 3, 4, 5, 6, 7, 8], y: [1, 2, 3, 4, 5, 6, 7, 8] }};
  const making = {{ id: "making", x: "sweeps of this draw", title: "Draw 2", lines: [line] }};
  stage.say({{ epoch: 1, lanes: [{{ measured: 64 }}], said: ["1 draw"], traces: [making] }});
  return [62, 64, 67].map((sweep) => {{
    lane.shown = {{ sweep }};
    stage.tellDue();
    return [shown(making, {{ seconds: false, of: [sweep] }})[0].y.length, said.join(), charts.join()];
  }});
}}"""


# The pictures on screen, and what is left to show, as words that waited for 1 s, then for 2, and of those are told.
HURRIED = f"""async () => {{ {MODULE}
  const {{ Player }} = await of("/player.js");
  const frames = [10, 20, 30].map((sweep) => ({{ sweep }}));
  const lane = {{ queue: frames, shown: {{ sweep: 5 }} }};
  lane.pass = (count) => {{
    if (count) lane.shown = lane.queue.splice(0, count).pop();
  }};
  const stage = {{ lanes: [lane], moment: ({{ sweep }}) => sweep }};
  return [1000, 2000].map((waited) => {{
    stage.untold = [{{ due: [20], at: performance.now() - waited }}, {{ due: [30], at: performance.now() }}];
    Player.prototype.hurry.call(stage);
    return [lane.shown.sweep, lane.queue.length];
  }});
}}"""


# Ends of an axis of heights that are the same but for being of 32 bits, and of one that spans 1 at least.
ROUNDED = f"""async () => {{ {MODULE}
  const {{ Chart }} = await of("/chart.js");
  const exact = {{ y: 16.797979797979796 }};
  const chart = {{ trace: {{ exact }}, width: 300, height: 200, top: 8, exacts: () => [exact] }};
  chart.lines = [{{ x: [0], y: new Float32Array([exact.y]) }}];
  Chart.prototype.measure.call(chart, {{}});
  const found = [...chart.y.ends];
  chart.trace.least = 1;
  chart.lines[0].y[0] = exact.y + 0.01;
  Chart.prototype.measure.call(chart, {{}});
  return [...found, ...chart.y.ends];
}}"""


# Where charts end that were compared last at sweep 128 and have pictures of 183, and what the legend calls two lanes.
ENDED = f"""async () => {{ {MODULE}
  const {{ Traces }} = await of("/traces.js");
  const card = (x, ...ends) => [x, {{ trace: {{ x, lines: ends.map((end) => ({{ lane: "0", x: [0, end] }})) }} }}];
  const cards = new Map([["a", card("sweeps", 128)[1]], ["b", card("sweeps", 183, 100)[1]], card("seconds", 7)]);
  const ends = Traces.prototype.commonEnds.call({{ cards }}, null);
  const traces = new Traces();
  document.createElement("div").append(traces.root);
  const named = (label, short) => ({{ label, short, colour: "#000000", dash: "solid", marker: "circle" }});
  traces.tell([named("Gibbs-with-gradients", "GWG"), named("PMP · damping 0.1", "damping 0.1")], null);
  return [ends, [...traces.legend.children].map((entry) => entry.textContent)];
}}"""


# What is shaded, from where on and from which height to which, and at which heights a line is dotted: of the noise with
# its farthest of a thousand and without, and about an exact value from sweep 40 on.
SHADED = f"""async () => {{ {MODULE}
  const {{ drawBands, drawFarthest }} = await of("/levels.js");
  const [shades, lines, nothing] = [[], [], () => {{}}];
  const fillRect = (x, y, wide, high) => shades.push([x, y, y + high]);
  const own = {{ fillRect, lineTo: (x, y) => lines.push([x, y]), beginPath: nothing, moveTo: nothing }};
  const context = {{ ...own, stroke: nothing, setLineDash: nothing }};
  const area = {{ left: 0, right: 100, top: 0, bottom: 100 }};
  const y = {{ px: (value) => 100 - value, log: false }};
  const theme = {{ text: [0, 0, 0], soft: [0, 0, 0] }};
  const chart = {{ context, theme, area: () => area, x: {{ px: (at) => at }}, y }};
  for (const band of [{{ low: 0, high: 20, most: 50 }}, {{ low: 0, high: 20 }}]) {{
    drawBands({{ ...chart, trace: {{ band }} }});
    drawFarthest({{ ...chart, trace: {{ band }} }});
  }}
  drawBands({{ ...chart, trace: {{ exact: {{ y: 30, chance: 5, since: 40 }} }} }});
  return [shades, lines];
}}"""


# The names on their ends beneath 16 columns that have no room for all of them.
STANDING = f"""async () => {{ {MODULE}
  const {{ drawColumns }} = await of("/columns.js");
  const names = Array.from({{ length: 16 }}, (_, k) => k.toString(2).padStart(4, "0"));
  const law = names.map((_, k) => (k % 15 ? 0.01 : 0.43));
  const written = [];
  const nothing = () => {{}};
  const own = {{ measureText: () => ({{ width: 30 }}), fillText: (text) => written.push(text) }};
  const context = new Proxy(own, {{ get: (has, name) => has[name] || nothing, set: () => true }});
  const theme = {{ text: [0, 0, 0], soft: [0, 0, 0], rule: [0, 0, 0], ground: [255, 255, 255] }};
  const area = {{ left: 0, right: 0, bottom: 40, width: 130, height: 150 }};
  drawColumns(context, theme, area, {{ names, law, rows: [{{ colour: "#0072B2", colours: names, values: law }}] }});
  return written;
}}"""


# How many names are written of an exact value since a place on a chart of 100 by 100 pixels.
SINCE = f"""async (since) => {{ {MODULE}
  const {{ drawExact }} = await of("/levels.js");
  const [written, px, nothing] = [[], (value) => value, () => 0];
  const drawing = {{ beginPath: nothing, moveTo: nothing, lineTo: nothing, stroke: nothing, fillText: nothing }};
  const context = {{ measureText: () => ({{ width: 30 }}), strokeText: (words) => written.push(words), ...drawing }};
  const theme = {{ text: [0, 0, 0], ground: [0, 0, 0] }};
  const trace = {{ exact: {{ y: 50, label: "exact", since, earlier: [{{ y: 80, until: since }}] }} }};
  const area = () => ({{ left: 0, right: 100, top: 0, bottom: 100 }});
  drawExact({{ context, theme, trace, area, named: {{}}, lines: [], x: {{ px }}, y: {{ px }} }});
  return written.length;
}}"""


# Where the exact line's name is written on a chart of 100 by 100 pixels: boxes of other names, then heights of curves.
NAMED = f"""async ([boxes, ...curves]) => {{ {MODULE}
  const {{ nameExact }} = await of("/names.js");
  const [written, px] = [[], (value) => value];
  const [strokeText, fillText] = [(_, ...at) => written.push(at), () => 0];
  const context = {{ measureText: () => ({{ width: 30 }}), strokeText, fillText }};
  const theme = {{ text: [0, 0, 0], ground: [0, 0, 0] }};
  const lines = curves.map((y) => ({{ x: [0, 50, 100], y }}));
  const drawn = {{ x: {{ px }}, y: {{ px }}, lines, trace: {{ exact: {{ label: "exact" }} }} }};
  const chart = {{ context, theme, named: {{}}, boxes, ...drawn }};
  nameExact(chart, {{ left: 0, right: 100, top: 0, bottom: 100 }}, 0, 50);
  return written[0] || null;
}}"""


# What is written of a band in the lower part of a chart whose line falls steeply near its left end, or lies above it.
BAND = f"""async (x) => {{ {MODULE}
  const {{ nameBand }} = await of("/names.js");
  const [written, px] = [[], (value) => value];
  const [strokeText, fillText] = [(text) => written.push(text), () => 0];
  const context = {{ measureText: (text) => ({{ width: 10 * text.length }}), strokeText, fillText }};
  const theme = {{ text: [0, 0, 0], ground: [0, 0, 0], soft: [0, 0, 0] }};
  const drawn = {{ x: {{ px }}, y: {{ px }}, lines: [{{ x, y: [0, 100] }}] }};
  const band = {{ low: 100, high: 60, label: "noise: 12 letters" }};
  const chart = {{ context, theme, named: {{}}, ...drawn, trace: {{ band }} }};
  nameBand(chart, {{ left: 0, right: 200, top: 0, bottom: 100 }});
  return written;
}}"""


# How high the words of a mark stand there.
MARKED = f"""async ([y, exact]) => {{ {MODULE}
  const {{ Marks }} = await of("/marks.js");
  const [written, px, nothing] = [[], (value) => value, () => 0];
  const [strokeText, fillText] = [(_, ...at) => written.push(at), nothing];
  const context = {{ measureText: () => ({{ width: 30 }}), strokeText, fillText, setLineDash: nothing }};
  const theme = {{ text: [0, 0, 0], ground: [0, 0, 0], soft: [0, 0, 0] }};
  const lines = [{{ x: [0, 50, 100], y }}];
  const trace = exact ? {{ exact: {{ y: exact }} }} : {{}};
  const chart = {{ context, theme, lines, x: {{ px }}, y: {{ px }}, trace, upright: nothing }};
  new Marks().draw(chart, [[40, "rate"], [45, "other"]], {{ left: 0, right: 100, top: 0, bottom: 100 }});
  return written.map(([, y]) => y);
}}"""


# Shades from dark to light on a dark ground, each as its brightest part.
LIT = f"""async (dark) => {{ {MODULE}
  const {{ lit, rgb }} = await of("/theme.js");
  return ["#5B3A8E", "#7B4FB5", "#C0AEE0"].map((colour) => Math.max(...rgb(lit(colour, {{ dark }}))));
}}"""


# A chart of two looks, the first one under the foot of its log axis, and what is said at the second third; one of large
# values that hardly differ, with its band, which its beginning has not, and one whose band is open below.
HOVERED = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name);
  const of = (name) => import(loaded.find((address) => address.endsWith(name)));
  const [{ Chart }, { told }] = [await of("/chart.js"), await of("/told.js")];
  const chart = new Chart(document.createElement("div"), () => {});
  const line = { x: [0, 64, 128], y: [1e-2, 1e-4, 1e-4], own: [1e-2, -2.5e-3, 9.9999e-5], name: "Gibbs" };
  chart.trace = { x: "sweeps", log: true, lines: (chart.lines = [line]) };
  chart.width = chart.height = 300;
  chart.measure({});
  const said = [0, 60, 66, 128].map((sweep) => told(chart, chart.x.px(sweep)));
  const [low, high] = [[NaN, -2569.1, -2567.004], [NaN, -2567.8, -2566.996]];
  const near = { x: [0, 1, 2], y: [-2570.2677, -2568.4, -2567], low, high };
  chart.trace = { x: "sweeps", lines: (chart.lines = [near]) };
  chart.measure({});
  const told3 = [0, 1, 2].map((sweep) => told(chart, chart.x.px(sweep))[1]);
  near.low = [NaN, -Infinity, -Infinity];
  const open = told(chart, chart.x.px(1))[1];
  chart.trace = { x: "sweeps", lines: (chart.lines = [{ x: [0, 1], y: [2.01e-7, 2.02e-7] }]) };
  chart.measure({});
  return [...said, [...told3, open, told(chart, chart.x.px(0))[1]]];
}"""


# Whether a positive coupling and a negative one of three sites are red, in four states and in none.
UNMET = f"""async () => {{ {MODULE}
  const {{ painterFor }} = await of("/painters.js");
  const places = {{ nodes: [0, 0, 1, 0, 1, 1], edges: [0, 1, 1, 2], opposed: [0, 1], coupled: true }};
  const painter = painterFor({{ n: 3, geometry: {{ kind: "graph", ...places }} }});
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = painter.fit(200, 200)[0];
  const theme = {{ ink: [0, 0, 0], soft: [90, 90, 90], paper: [255, 255, 255], dark: false }};
  const marginals = {{ values: [0, 0.5, 1], low: 0, high: 1, kind: "sequential", plain: true }};
  const red = (...area) => {{
    const {{ data }} = canvas.getContext("2d").getImageData(...area);
    return data.some((value, k) => k % 4 === 0 && value > 150 && data[k + 1] < 60 && data[k + 2] < 80);
  }};
  return [[0b000], [0b100], [0b001], [0b111], null].map((bits) => {{
    painter.paint(canvas, bits && [bits[0] << 5], bits ? null : marginals, theme);
    return [red(60, 0, 80, 40), red(160, 60, 40, 80)];
  }});
}}"""


# Where a log axis of seconds has what is of the beginning and what came 8 ms later, in px, and what is said there.
BEGUN = f"""async () => {{ {MODULE}
  const [{{ Chart }}, {{ told }}] = [await of("/chart.js"), await of("/told.js")];
  const chart = new Chart(document.createElement("div"), () => {{}});
  const line = {{ x: [0, 0.008, 4], y: [1500, 0, 0], name: "Gibbs" }};
  chart.trace = {{ x: "seconds", xlog: true, lines: (chart.lines = [line]) }};
  chart.width = chart.height = 300;
  chart.measure({{}});
  return [[0, 0.008, 4].map((x) => Math.round(chart.x.px(x))), told(chart, chart.x.px(0))];
}}"""


# How high four lines stand, of which two go along the foot of a log axis of 100 pixels and one ends there; their dashes
# along it, and where their last markers are.
GROUNDED = f"""async () => {{ {MODULE}
  const [{{ grounded }}, {{ scale }}] = [await of("/overlaps.js"), await of("/scale.js")];
  const {{ drawLine }} = await of("/curves.js");
  const line = (...own) => ({{ x: [0, 50, 100], y: own.map((each) => Math.max(each, 1e-5)), own }});
  const lines = grounded([line(0.1, -0.002, -0.002), line(0.1, 0.1, 0.1), line(0.1, 0.01, 1e-7), line(0.1, 1e-6, 0)]);
  const chart = {{ lines, x: scale([0, 100], [0, 300]), y: scale([1e-5, 1], [100, 0], true) }};
  return lines.map((line) => {{
    let [own, path, mark, dashes] = [{{}}, [], null, []];
    const mean = (k) => Math.round(path.reduce((sum, at) => sum + at[k], 0) / path.length);
    const calls = {{
      setLineDash: (dash) => (own.dash = dash),
      beginPath: () => (path = []),
      lineTo: (...at) => path.push(at),
      stroke: () => own.dash.length && dashes.push([own.dash, own.lineDashOffset]),
      fill: () => (mark = [mean(0), mean(1)]),
    }};
    const get = (_, name) => calls[name] || own[name] || (() => {{}});
    const set = (_, name, value) => ((own[name] = value), true);
    drawLine({{ ...chart, context: new Proxy({{}}, {{ get, set }}) }}, line);
    return [line.y.map((value) => Math.round(chart.y.px(value))), dashes, mark];
  }});
}}"""


# What is written along a log axis at whose foot something lies that is below, then along a linear one.
FOOT = f"""async () => {{ {MODULE}
  const [{{ Chart }}, {{ scale }}] = [await of("/chart.js"), await of("/scale.js")];
  const written = [];
  const get = (own, name) => own[name] || (() => {{}});
  const context = new Proxy({{ fillText: (words) => written.push(words) }}, {{ get, set: () => true }});
  const chart = Object.create(Chart.prototype);
  const theme = {{ rule: [0, 0, 0], soft: [0, 0, 0] }};
  Object.assign(chart, {{ context, theme, width: 300, height: 120, top: 0, trace: {{}}, drawAcross() {{}} }});
  Object.assign(chart, {{ y: scale([1e-5, 1], [100, 0], true), lines: [{{ under: [true] }}] }});
  chart.drawAxes(false);
  Object.assign(chart, {{ y: scale([-2, 2], [100, 0]), lines: [{{}}] }});
  chart.drawAxes(false);
  return written;
}}"""


# How high two heads of lanes are, of which one has a name of two lines.
LEVEL = f"""async () => {{ {MODULE}
  const {{ Player }} = await of("/player.js");
  const head = (name) => Object.assign(document.createElement("div"), {{ innerHTML: name }});
  const heads = ["one", "two<br>lines"].map(head);
  document.body.append(...heads);
  Player.prototype.level.call({{ lanes: heads.map((head) => ({{ head }})) }});
  const found = heads.map((head) => head.offsetHeight);
  for (const head of heads) head.remove();
  return found[1] - found[0];
}}"""


# What is written along a log axis of seconds from 14 ms to 7.6 s, of a wide chart and of a narrow one.
ALONG = f"""async () => {{ {MODULE}
  const [{{ Chart }}, {{ scale }}] = [await of("/chart.js"), await of("/scale.js")];
  return [600, 150].map((width) => {{
    const written = [];
    const [fillText, measureText] = [(words) => written.push(words), (words) => ({{ width: 6 * words.length }})];
    const get = (own, name) => own[name] || (() => {{}});
    const context = new Proxy({{ fillText, measureText }}, {{ get, set: () => true }});
    const x = scale([0.014, 7.6], [50, width - 10], true);
    const trace = {{ x: "seconds", xlog: true }};
    Chart.prototype.drawAcross.call({{ context, width, height: 100, top: 0, trace, x }});
    return written;
  }});
}}"""


# The numbers beside an axis about 0, and of one from 0 to 1.
TICKS = f"""async () => {{ {MODULE}
  const {{ ticks }} = await of("/scale.js");
  return [[-0.49, 0.49], [0, 1]].map((ends) => ticks(ends, 4).map(([, words]) => words));
}}"""


# What the legend of a layer says of now, of the moment it was sent at and of the next one, of which none is kept.
LAYERED = f"""async () => {{ {MODULE}
  const [{{ Lane }}, {{ readTheme }}] = [await of("/lane.js"), await of("/theme.js")];
  const lane = new Lane(0);
  const layer = {{ name: "local field", kind: "diverging", low: -1, high: 1, values: [0] }};
  lane.meta = {{ layer }};
  lane.remember({{ sweep: 8, strip: [], layer }});
  lane.keep([8, 9].map((sweep) => ({{ sweep, epoch: 1 }})));
  return [null, 8, 9].map((sweep) => {{
    lane.drawLegend(readTheme(document.body), sweep);
    return [lane.legend.textContent, lane.legend.querySelectorAll(".pv-ramp").length];
  }});
}}"""


# The side of a clamped site's mark, as a share of the site's, of sites of 4 and of 20 pixels.
CORNERS = f"""async () => {{ {MODULE}
  const [{{ RasterPainter }}, {{ readTheme }}] = [await of("/raster.js"), await of("/theme.js")];
  const painter = new RasterPainter({{ geometry: {{ rows: 2, cols: 2 }}, n: 4, states: null }});
  return [4, 20].map((pixels) => {{
    painter.fit(2 * pixels, 2 * pixels);
    const sides = [];
    const fillRect = (x, y, wide, high) => sides.push(wide / pixels, high / pixels);
    painter.corners({{ fillRect }}, new Set([3]), readTheme(document.body), 0);
    return sides;
  }});
}}"""


# The ring of a lane after 3,000 frames, its first pictures and what it has of a moment before them.
PAST = """async () => {
  const loaded = performance.getEntriesByType("resource").map((e) => e.name).find((a) => a.endsWith("/lane.js"));
  const { Lane } = await import(loaded);
  const lane = new Lane(0);
  lane.keep(Array.from({ length: 3000 }, (_, k) => ({ sweep: k + 5, epoch: 1 })));
  Array.from({ length: 3000 }, (_, k) => lane.remember({ sweep: k + 5, strip: [] }));
  const others = [5, 300, 1500, 2900].map((sweep) => sweep - lane.moment(sweep).sweep);
  const frames = [4, 5, 68, 69, 2999].map((sweep) => lane.past(sweep)?.sweep ?? null);
  lane.meta = { strip: [] };
  const told = [1500, 3004].map((sweep) => (lane.drawStrip(null, sweep), lane.strip.dataset.when));
  return [lane.ring.length, ...frames, lane.moments.length, ...others, ...told];
}"""


# What stands at a knob, turned from 1 to 4, two seconds later: at an answer to what was told before, and at its own.
TURNED = f"""async () => {{ {MODULE}
  const {{ Knobs }} = await of("/knobs.js");
  const knobs = new Knobs(() => {{}});
  const told = [{{ name: "T", label: "", help: "", low: 0, high: 4, scale: "linear", value: 1 }}];
  knobs.adopt(told);
  const range = knobs.root.querySelector("input");
  range.value = range.max;
  range.dispatchEvent(new Event("input"));
  const later = performance.now() + 2000;
  performance.now = () => later;
  const found = [false, true].map((answered) => (knobs.adopt(told, answered), knobs.root.textContent));
  delete performance.now;
  return found;
}}"""


# What stands beneath the picture of each sweep of a lane that is done after 128, of draws of 64 sweeps.
COUNTED = f"""async (sweeps) => {{ {MODULE}
  const {{ Lane }} = await of("/lane.js");
  const meta = {{ draws: [2, 128, 64, " since sweep 0"], status: "done" }};
  return sweeps.map((sweep) => {{
    const lane = {{ meta, queue: sweep < 128 ? [0] : [], status: {{}}, sub: {{ firstChild: {{}} }} }};
    Object.setPrototypeOf(lane, Lane.prototype);
    lane.painter = {{ costly: 0.26 }};
    lane.tellOf({{ sweep }});
    return [lane.sub.firstChild.textContent, lane.status.textContent, lane.unmet({{ sweep }})];
  }});
}}"""


# The strokes of a line of draws, and the shades of its band, that settings changed in: [from, to] each.
PARTED = f"""async (breaks) => {{ {MODULE}
  const {{ drawLine, drawRange }} = await of("/curves.js");
  const found = {{ strokes: [], shades: [] }};
  let path = [];
  const context = {{
    setLineDash() {{}}, beginPath: () => (path = []), moveTo: (x) => path.push([x]),
    stroke: () => found.strokes.push(...path),
    lineTo: (x) => (path.length ? path[path.length - 1].push(x) : path.push([x])),
    fill: () => found.shades.push([Math.min(...path[0]), Math.max(...path[0])]),
  }};
  const scale = {{ px: (value) => value, ends: [0, 9] }};
  const line = {{ x: [1, 2, 3, 4], y: [5, 6, 7, 8], low: [4, 5, 6, 7], high: [6, 7, 8, 9], faint: true, breaks }};
  const chart = {{ context, x: scale, y: scale, lines: [line] }};
  drawLine(chart, line);
  drawRange(chart, line);
  return [found.strokes, found.shades];
}}"""


def test_words_of_marks_and_of_the_pointer_and_pictures_of_the_past(open_page, server):
    page = open_page(stage.link(server, "playground", ("gibbs",), **SMALL))
    stage.wait_lanes(page, 1)
    marks = [[100, "beta 1 to 0.5"], [104, "field painted"], [395, "damping 0.5 to 0.9"], [250, "x" * 200]]
    groups = page.evaluate(PLACED, [marks, 50, 400])
    assert groups[0]["texts"] == ["beta 1 to 0.5", "field painted"] and groups[0]["words"] == "field painted, 1 more"
    marks = [[100, "links 1 → 0"], [104, "words labelled", True], [300, "words labelled", True], [304, "links 0 → 1"]]
    words = [each["words"] for each in page.evaluate(PLACED, [marks, 50, 400])]
    assert words == ["links 1 → 0, 1 more", "links 0 → 1, 1 more"]
    said = [["sweeps 0", "0.01"], ["sweeps 60", "−0.0025, at sweep 64"], ["sweeps 66", "−0.0025, at sweep 64"]]
    fine = "−2\u202f568.4 (−2\u202f569.1 to −2\u202f567.8)"
    assert page.evaluate(HOVERED) == [
        *said,
        ["sweeps 128", "1·10⁻⁴"],
        ["−2\u202f570.27", fine, "−2\u202f567", "−2\u202f568.4 (at most −2\u202f567.8)", "2.01·10⁻⁷"],
    ]
    *frames, moments, first, early, middle, late, then, now = page.evaluate(PAST)
    assert frames == [2000, None, 5, 68, 68, 2999]
    # Of the other chains a moment is kept near each, as many as there is room for over the whole run.
    assert moments <= 128 and first == 0 and max(early, middle, late) < 2 * 3000 / 64
    # Of another moment than the picture's they say so.
    assert then.startswith("at sweep 1") and now == ""
    assert all(50 <= each["at"] and each["at"] + 6 * len(each["words"]) <= 400 for each in groups)
    # Curves end at the pictures that are shown, but for those of runs before; what has no pictures is whole.
    assert page.evaluate(SHOWN, "sweeps") == [[5, 6], [5, 6, 7], [5, 6, 7]]
    assert page.evaluate(SHOWN, "seconds") == [[5, 6, 7]] * 3
    assert page.evaluate(HELD) == [[0, 32, 50], [9, 5, 5]]
    assert page.evaluate(LEVEL) == 0
    # What lies beneath the axis stands at its foot, at no height of its own: lines take turns, markers stand aside.
    highs, dashes, marks = zip(*page.evaluate(GROUNDED), strict=True)
    assert highs == ([20, 100, 100], [20, 20, 20], [20, 40, 100], [20, 100, 100])
    assert dashes == ([[[9, 18], 150]], [], [], [[[9, 18], 132]])
    assert marks == ([300, 100], [300, 20], [300, 100], [282, 100])
    # Of pictures that are behind the lane it is told how many draws there were, or that they are of one in the making
    # before it is done; and that the lane is done with its last.
    assert page.evaluate(COUNTED, [30, 64, 109, 128]) == [
        ["first new draw: sweep 30 of 64", "", "26 % not met, draw not done"],
        ["1 draw a chain since sweep 0", "", "26 % not met"],
        ["draw 2: sweep 45 of 64", "", "26 % not met, draw not done"],
        ["2 draws a chain since sweep 0", "done", "26 % not met"],
    ]
    # Draws before a change of the settings are not joined to those after it.
    assert page.evaluate(PARTED, [2]) == [[[1, 2], [3, 4]], [[1, 2], [3, 4]]]
    assert page.evaluate(PARTED, []) == [[[1, 2, 3, 4]], [[1, 4]]]
    axis = page.evaluate(FOOT)
    assert axis[0] == "≤ 10⁻⁵" and all("≤" not in text for text in axis[1:])
    assert page.evaluate(MEASURED, [60, 63, 64]) == [[1, 1, 0], [1, 1, 0], [2, 2, 1]]
    assert page.evaluate(WAITED) == ["Starting", "New"]
    assert page.evaluate(MISSED) == [0, "of 1"]
    assert page.evaluate(CHARTED) == [[0, "", ""], [0, "1 draw", "Draw 2"], [3, "1 draw", "Draw 2"]]
    assert page.evaluate(TURNED) == ["4", "1"]
    assert page.evaluate(HURRIED) == [[5, 3], [20, 1]]
    low, high, *least = page.evaluate(ROUNDED)
    assert least[1] - least[0] == pytest.approx(1) and sum(least) / 2 == pytest.approx(16.803, abs=0.001)
    assert high - low > 1
    legend = ["Gibbs-with-gradients (GWG)", "PMP · damping 0.1"]
    assert page.evaluate(ENDED) == [{"sweeps": 183, "seconds": 7}, legend]
    assert page.evaluate(STANDING) == ["0000", "1111"]
    # Where chance mostly is, and how far it came in a thousand trials.
    assert page.evaluate(SHADED) == [[[0, 80, 100], [0, 80, 100], [40, 65, 75]], [[100, 50]]]
    # A log axis has its decades' numbers, and its name where these leave room for one.
    assert page.evaluate(ALONG) == [["14 ms", "7.6 s", "100 ms", "1 s", "seconds, log axis"], ["14 ms", "7.6 s"]]
    # By a single number no size is read.
    assert page.evaluate(TICKS) == [["−0.4", "−0.2", "0", "0.2", "0.4"], ["0", "0.5", "1.0"]]
    # What a run began with is seen, and its fall from there.
    assert page.evaluate(BEGUN) == [[50, 74, 290], ["seconds 0 s", "1\u202f500"]]
    assert page.evaluate(LAYERED) == [
        ["local field−11", 1],
        ["local field−11", 1],
        ["local field: not kept of this moment", 0],
    ]
    # Of a small site half of a side, or nobody would see it.
    assert page.evaluate(CORNERS) == [[0.5, 0.5], [0.3, 0.3]]
    # The exact line's name stands above its right end, unless a curve ends there or words of a mark stand.
    assert page.evaluate(NAMED, [[], [10, 10, 10]]) == [65, 43]
    assert page.evaluate(NAMED, [[], [10, 45, 45]]) == [65, 66]
    assert page.evaluate(NAMED, [[], [10, 90, 40]]) == [50, 43]
    assert page.evaluate(NAMED, [[[60, 100, 30, 60]]]) == [20, 43]
    # Where curves lie along the line, or words, it stands a line further off; over other words it is not written.
    assert page.evaluate(NAMED, [[], [45, 45, 45], [55, 55, 55]]) == [65, 26]
    assert page.evaluate(NAMED, [[[0, 100, 30, 60]]]) == [65, 83]
    assert page.evaluate(NAMED, [[[0, 100, 10, 90]]]) is None
    # A band's name is cut to its beginning rather than written over a line.
    assert page.evaluate(BAND, [300, 310]) == ["noise: 12 letters"] and page.evaluate(BAND, [95, 99]) == ["noise"]
    # Words of a mark stand at the top, or beneath the curve that is there.
    # Just after a change the new value's line has no length: its name would stand at the old one's.
    assert [page.evaluate(SINCE, since) for since in (60, 100)] == [1, 0]
    low, high = [90, 90, 90], [10, 10, 10]
    assert page.evaluate(MARKED, [low, None]) == [12] and page.evaluate(MARKED, [high, None]) == [24]
    # Nor does the exact line strike them out.
    assert page.evaluate(MARKED, [low, 10]) == [24] and page.evaluate(MARKED, [low, 40]) == [12]
    # A coupling is red where its states are not as it would have them.
    assert page.evaluate(UNMET) == [[False, True], [True, True], [False, False], [False, True], [False, False]]
    # Dark shades are lighter on a dark ground, and stay in their order.
    assert page.evaluate(LIT, False) == [0x8E, 0xB5, 0xE0]
    lit = page.evaluate(LIT, True)
    assert lit == sorted(lit) and lit[0] > 0x8E + 30 and lit[2] < 0xE0 + 10
