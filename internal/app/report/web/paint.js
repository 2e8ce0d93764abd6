// Painting bars: what a lane's part of the canvas gets.

// bar paints a phase between two times, in its pattern and shape; it returns where, if it is seen.
function bar(ctx, phase, from, to, top, height) {
  const left = Math.max(xOf(from), view.gutter - 2), right = Math.min(xOf(to), view.width + 2);
  if (right < view.gutter || left > view.width || right < left) return null;
  const [down, part] = shapes[phase] || [0, 1];
  ctx.fillStyle = pattern(ctx, phase);
  ctx.fillRect(left, top + down * height, Math.max(right - left, 1), Math.max(part * height, 2));
  return [left, right];
}

// label writes a text within a bar, on a plate that keeps it readable, or nothing where it has no room.
function label(ctx, text, left, right, middle) {
  if (right - left < 40) return;
  const room = Math.floor((right - left - 10) / 6.4);
  if (text.length > room) {
    if (room < 8) return;
    text = text.slice(0, room - 1) + "…";
  }
  const width = ctx.measureText(text).width + 6;
  if (width > right - left) return;
  ctx.fillStyle = colours.ground;
  ctx.globalAlpha = 0.88;
  ctx.fillRect(left + 3, middle - 7, width, 14);
  ctx.globalAlpha = 1;
  ctx.fillStyle = colours.text;
  ctx.fillText(text, left + 6, middle);
}

// strip paints a wait as a line.
function strip(ctx, kind, from, to, y, width) {
  const left = Math.max(xOf(from), view.gutter), right = Math.min(xOf(to), view.width);
  if (right < left) return;
  ctx.strokeStyle = waitColour(kind);
  ctx.lineWidth = width;
  ctx.setLineDash(right - left > 24 ? waitDash(kind) : []);
  ctx.beginPath();
  ctx.moveTo(left, y);
  ctx.lineTo(Math.max(right, left + 1.5), y);
  ctx.stroke();
  ctx.setLineDash([]);
}

// ends is the sign that something goes on where its tape ends.
function ends(ctx, y, height, stop) {
  const x = xOf(stop);
  if (x < view.gutter || x > view.width + 4) return;
  ctx.fillStyle = colours.alarm;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + 7, y + height / 2);
  ctx.lineTo(x, y + height);
  ctx.fill();
}

// framed marks a stretch of a row.
function framed(ctx, from, to, y, height) {
  const left = Math.max(xOf(from), view.gutter), right = Math.min(xOf(to), view.width - 1);
  if (right < left) return;
  ctx.strokeStyle = colours.accent;
  ctx.lineWidth = 2;
  ctx.strokeRect(left, y + 1, Math.max(right - left, 3), height - 2);
}

// name writes the name of a row into the gutter, its end where it is too long: that is what tells names apart. Before it stands
// the letter of its side, where there are two.
function name(ctx, text, x, middle, colour, side = -1) {
  if (letter(side) !== "") {
    ctx.fillStyle = colours.text;
    ctx.fillText(letter(side), x, middle);
    x += 13;
  }
  const room = Math.floor((view.gutter - x - 8) / 6.2);
  if (text.length > room) text = "…" + text.slice(text.length - room + 1);
  ctx.fillStyle = colour;
  ctx.fillText(text, x, middle);
}
