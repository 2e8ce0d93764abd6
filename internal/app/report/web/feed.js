// The feed: only the entries that are seen are elements.

const entryHeight = 34;
const feed = data.feed;
let shownEntries = []; // places in the feed
let feedFollows = true; // the list scrolls with the cursor until it is scrolled by hand
const elements = [];

function chooseEntries() {
  const every = byId("every").checked;
  shownEntries = [];
  for (let i = 0; i < feed.at.length; i++) if (every || feed.default[i]) shownEntries.push(i);
  byId("feed-tall").style.height = `${shownEntries.length * entryHeight}px`;
  const hidden = feed.at.length - shownEntries.length;
  byId("feed-title").textContent = `Feed · ${many(shownEntries.length, "entry", "entries")}`;
  byId("every").parentElement.hidden = hidden === 0 && !every;
  feedFollows = true;
  redraw();
}

// entryAt is the place in shownEntries of the last entry that isn't after a time, or -1.
function entryAt(t) {
  let low = 0, high = shownEntries.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (feed.at[shownEntries[mid]] <= t) low = mid + 1; else high = mid;
  }
  return low - 1;
}

function drawFeed() {
  const list = byId("feed"), now = entryAt(view.cursor);
  if (feedFollows) {
    const top = Math.max(now * entryHeight - list.clientHeight / 2, 0);
    if (Math.abs(list.scrollTop - top) > 1) list.scrollTop = top;
    feedFollows = false;
  }
  const first = Math.max(Math.floor(list.scrollTop / entryHeight) - 1, 0);
  const last = Math.min(first + Math.ceil(list.clientHeight / entryHeight) + 2, shownEntries.length);
  for (let k = first; k < last; k++) {
    let e = elements[k - first];
    if (!e) {
      e = element("div", "entry");
      e.setAttribute("role", "listitem");
      e.head = e.appendChild(element("div"));
      e.time = e.head.appendChild(element("time"));
      e.head.append("  ");
      e.what = e.head.appendChild(element("b"));
      e.head.append(" ");
      e.node = e.head.appendChild(element("span"));
      e.sub = e.appendChild(element("div", "sub"));
      e.addEventListener("click", () => jumpToEntry(e.entry));
      list.appendChild(e);
      elements.push(e);
    }
    e.style.display = "";
    fill(e, k, now);
  }
  for (let k = Math.max(last - first, 0); k < elements.length; k++) elements[k].style.display = "none";
}

function fill(e, k, now) {
  const cls = `entry${k === now ? " now" : k > now ? " later" : ""}`;
  if (e.className !== cls) e.className = cls;
  const i = shownEntries[k];
  e.style.top = `${k * entryHeight}px`;
  if (e.entry === i) return;
  e.entry = i;
  e.setAttribute("aria-setsize", shownEntries.length);
  e.setAttribute("aria-posinset", k + 1);
  e.time.textContent = tagged(sideOfEntry(i), stampOf(feed.at[i], sideOfEntry(i)));
  e.what.textContent = str(feed.kind[i]);
  e.node.textContent = withoutDomain(str(feed.node[i]));
  e.sub.textContent = entryDetails(i) || `line ${feed.line[i]} of the tape`;
  e.title = `${str(feed.node[i])} ${entryDetails(i)} (line ${feed.line[i]})`.trim();
}

const entryDetails = (i) => [feed.object[i], feed.reason[i], feed.message[i]].filter((id) => id !== 0).map(str).join("  ");

let stepped = -1; // the entry that jumpToEntry went to last: others may have its time

// jumpToEntry moves the cursor to an entry and selects its node.
function jumpToEntry(i) {
  const side = sideOfEntry(i);
  stepped = i;
  setCursor(feed.at[i], false);
  const node = feed.node[i] === 0 ? -1 : nodeNamed(str(feed.node[i]), feed.at[i], side);
  if (node >= 0) select(rowOf("node", node));
  say(`${tagged(side, stampOf(feed.at[i], side))} ${str(feed.kind[i])} ${str(feed.node[i])} ${entryDetails(i)}`);
}

// stepEntry goes to the next or the previous entry that is shown.
function stepEntry(by) {
  const last = stepped >= 0 && feed.at[stepped] === view.cursor ? shownEntries.indexOf(stepped) : -1;
  let k = (last >= 0 ? last : entryAt(view.cursor)) + by;
  if (by < 0 && last < 0) while (k >= 0 && feed.at[shownEntries[k]] >= view.cursor) k--;
  if (k < 0 || k >= shownEntries.length) return;
  feedFollows = true;
  jumpToEntry(shownEntries[k]);
  feedFollows = true;
}
