// Texts of times, as nodesim's feed has them.

const two = (n) => String(n).padStart(2, "0");

// stamp is a position on the tape: T+1m32.412s.
function stamp(ms) {
  const sign = ms < 0 ? "-" : "+";
  ms = Math.abs(Math.trunc(ms));
  const h = Math.trunc(ms / 3600000), m = Math.trunc(ms / 60000) % 60, s = Math.trunc(ms / 1000) % 60;
  const seconds = `.${String(ms % 1000).padStart(3, "0")}s`;
  if (h > 0) return `T${sign}${h}h${two(m)}m${two(s)}${seconds}`;
  if (m > 0) return `T${sign}${m}m${two(s)}${seconds}`;
  return `T${sign}${s}${seconds}`;
}

// lasting is a duration for people: 350ms, 9.4s, 9m12s, 2h05m.
function lasting(ms) {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 59950) return `${String(Math.round(ms / 100) / 10)}s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.trunc(s / 60)}m${two(s % 60)}s`;
  return `${Math.trunc(s / 3600)}h${two(Math.trunc(s / 60) % 60)}m`;
}

// many is a number with its noun.
const many = (n, one, more = one + "s") => `${n} ${n === 1 ? one : more}`;

// element makes an element with a class and text; text is never markup.
function element(name, cls = "", text = "") {
  const e = document.createElement(name);
  if (cls) e.className = cls;
  if (text !== "") e.textContent = text;
  return e;
}

const byId = (id) => document.getElementById(id);
