// Reading of the server's updates: see pmpviz/player/wire.py for the format.

// The JSON of an update, and `some(index, Type)`, which reads one of its blobs.
export function opened(bytes) {
  const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 12 || head.getUint32(0) !== 0x504d5056 || head.getUint16(4, true) !== 1) {
    throw new Error("not a player update");
  }
  const start = 12 + head.getUint32(8, true);
  const meta = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(12, start)));
  if (!Array.isArray(meta.blobs)) throw new Error("incomplete player update");
  const blob = (index) => {
    const [at, length] = meta.blobs[index];
    if (!(at >= 0 && length >= 0 && start + at + length <= bytes.byteLength)) throw new Error("cut player update");
    return bytes.slice(start + at, start + at + length);
  };
  const some = (index, Type) => (index === null || index === undefined ? null : new Type(blob(index).buffer));
  return { meta, some };
}

export function decode(bytes) {
  const { meta, some } = unpack(bytes);
  if (!Number.isFinite(meta.epoch) || !Array.isArray(meta.lanes)) throw new Error("incomplete player update");
  for (const lane of meta.lanes) readLane(lane, some);
  meta.clamped = some(meta.clamped, Uint8Array);
  meta.field = some(meta.field, Int32Array);
  return meta;
}

// As `opened`, with the arrays of the traces read.
export function unpack(bytes) {
  const { meta, some } = opened(bytes);
  for (const trace of meta.traces || []) {
    for (const line of trace.lines || []) {
      for (const name of ["x", "y", "low", "high", "least", "most", "seconds", "own", "at"]) line[name] = some(line[name], Float32Array);
    }
    if (trace.upper) for (const name of ["x", "y"]) trace.upper[name] = some(trace.upper[name], Float32Array);
  }
  return { meta, some };
}

function readLane(lane, some) {
  const size = Math.ceil(lane.n / 8) * (lane.states ? lane.states.planes : 1);
  const geometry = lane.geometry;
  geometry.nodes = some(geometry.nodes, Float32Array);
  geometry.edges = some(geometry.edges, Int32Array);
  geometry.opposed = some(geometry.opposed, Uint8Array);
  const bits = lane.frames ? some(lane.frames.bits, Uint8Array) : null;
  const sweeps = lane.frames ? lane.frames.sweeps : [];
  const { epochs = [], since = -1, last = -1 } = lane.frames || {};
  Object.assign(lane, { since, last });
  if (bits && bits.length !== size * sweeps.length) throw new Error("frames of another size");
  lane.frames = sweeps.map((sweep, k) => ({ sweep, epoch: epochs[k], bits: bits.subarray(k * size, (k + 1) * size) }));
  const strip = some(lane.strip, Uint8Array);
  const chains = strip ? Math.min(8, Math.floor(strip.length / size)) : 0;
  lane.strip = Array.from({ length: chains }, (_, k) => strip.subarray(k * size, (k + 1) * size));
  if (lane.layer) lane.layer.values = some(lane.layer.values, Float32Array);
}

export function bit(bits, site) {
  return (bits[site >> 3] >> (7 - (site & 7))) & 1;
}

// The state of a site: of more than two states the frame has a plane for each of its bits, the lowest first.
export function stateAt(bits, site, planes) {
  if (planes === 1) return bit(bits, site);
  const size = bits.length / planes;
  let state = 0;
  for (let p = 0; p < planes; p++) state |= ((bits[p * size + (site >> 3)] >> (7 - (site & 7))) & 1) << p;
  return state;
}

// FNV-1a, 32 bits: the same digits as pmpviz.player.wire.frame_hash.
export function frameHash(bits) {
  let value = 0x811c9dc5;
  for (let i = 0; i < bits.length; i++) value = Math.imul(value ^ bits[i], 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}
