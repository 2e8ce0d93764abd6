// Sides: which of two tapes something is of. A report of one tape has side 0 only, and shows no letter.

const compared = data.compared || null;
const zero = compared ? compared.zero : 0; // where the axis counts from

// sideOf is the side of something in a list of its kind: A's come first.
const sideOf = (kind, of) => compared && of >= tapes[1].first[kind] ? 1 : 0;
const sideOfEntry = (i) => compared ? data.feed.side[i] : 0;
const stopOf = (kind, of) => stops[sideOf(kind, of)];

// sideOfRow is that of a row of the lanes, -1 of a title.
function sideOfRow(row) {
  if (row.kind === "section") return -1;
  return row.kind === "waits" ? sideOf("node", row.node) : sideOf(row.kind, row.of);
}

const letter = (side) => compared && side >= 0 ? "AB"[side] : "";
const tagged = (side, text) => `${letter(side)} ${text}`.trim();

// stampOf is a moment of the page as its tape has it.
const stampOf = (t, side) => stamp(t - tapes[side].by);

// cursorText is a moment as the tapes that go on then have it.
function cursorText(t) {
  if (!compared || tapes[0].by === tapes[1].by) return stampOf(t, 0);
  const there = [0, 1].filter((side) => tapes[side].by <= t && t <= stops[side]);
  return there.map((side) => tagged(side, stampOf(t, side))).join(" · ");
}

const twins = {};
for (const [kind, pairs] of Object.entries(compared ? compared.pairs : {})) {
  twins[kind] = new Map([...pairs, ...pairs.map(([a, b]) => [b, a])]);
}

// twinOf is what something is compared with, -1 where there is none.
function twinOf(kind, of) {
  const known = twins[kind];
  return known && known.has(of) ? known.get(of) : -1;
}

// inPairs puts what is compared side by side, A's first; where the pair stands, its first one does.
function inPairs(kind, all) {
  const left = new Set(all), out = [];
  for (const of of all) {
    if (!left.has(of)) continue;
    for (const one of [of, twinOf(kind, of)].sort((a, b) => a - b)) if (left.delete(one)) out.push(one);
  }
  return out;
}

// groupOf is the group of a node; where two of other names are compared, both.
const groupOf = (() => {
  const own = (i) => str(data.nodes.group[i]), both = new Map();
  for (const [a, b] of compared ? compared.pairs.node || [] : []) {
    if (own(a) === own(b)) continue;
    both.set(`A ${own(a)}`, `${own(a)} / ${own(b)}`);
    both.set(`B ${own(b)}`, `${own(a)} / ${own(b)}`);
  }
  return (i) => both.get(tagged(sideOf("node", i), own(i))) || own(i);
})();
