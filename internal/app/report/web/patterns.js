// Patterns tell phases to those who don't tell colours, and on paper.

const patterns = new Map();

// hatch draws lines of a phase's pattern into a tile of eight pixels.
const hatches = {
  booting: (c) => { c.fillRect(1, 1, 2, 2); c.fillRect(5, 5, 2, 2); },
  joining: (c) => lines(c, [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]]),
  notready: (c) => lines(c, [[0, 0, 8, 8], [0, 8, 8, 0]]),
  cordoned: (c) => lines(c, [[2, 0, 2, 8], [6, 0, 6, 8]]),
  draining: (c) => lines(c, [[0, 0, 8, 8], [-2, 6, 2, 10], [6, -2, 10, 2]]),
  terminating: (c) => lines(c, [[0, 2, 8, 2], [0, 6, 8, 6]]),
};

function lines(c, all) {
  c.beginPath();
  for (const [a, b, x, y] of all) { c.moveTo(a, b); c.lineTo(x, y); }
  c.stroke();
}

// pattern is the fill of a phase; serving is plain.
function pattern(ctx, phase) {
  const known = patterns.get(phase);
  if (known) return known;
  const colour = colours[phase] || colours.faint;
  let fill = colour;
  if (hatches[phase]) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const c = tile.getContext("2d");
    c.fillStyle = colour;
    c.fillRect(0, 0, 8, 8);
    c.strokeStyle = c.fillStyle = colours.ground;
    c.globalAlpha = 0.55;
    c.lineWidth = 1.5;
    hatches[phase](c);
    fill = ctx.createPattern(tile, "repeat");
  }
  patterns.set(phase, fill);
  return fill;
}

// shapes are the top and height of a phase's bar, in parts of the lane's: a second way to tell them.
const shapes = {
  booting: [0.35, 0.3], joining: [0.2, 0.6], serving: [0, 1], notready: [0, 1], cordoned: [0, 1], draining: [0, 1],
  terminating: [0.3, 0.4],
};
