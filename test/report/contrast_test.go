package report

import (
	"fmt"
	"testing"
)

// TestTextsAreReadable wants 4.5:1 between each text and its background, in light and in dark (WCAG 2.2, success criterion 1.4.3), as
// the browser computes the style sheet.
func TestTextsAreReadable(t *testing.T) {
	pages := map[string]func(testing.TB) *tab{"report": stuck, "diff": sideBySide}
	for page, open := range pages {
		for _, theme := range []string{"light", "dark"} {
			t.Run(page+" "+theme, func(t *testing.T) {
				b := open(t)
				for range map[string]int{"light": 1, "dark": 2}[theme] {
					b.press("t")
				}
				b.press("f.v")
				b.js(`document.getElementById("keys").showModal()`)
				if got := value[string](b, `document.documentElement.dataset.theme`); got != theme {
					t.Fatalf("found the theme %q: want %s", got, theme)
				}
				for _, faint := range value[[]string](b, fmt.Sprintf(faintTexts, 4.5)) {
					t.Error(faint)
				}
			})
		}
	}
}

// faintTexts are the texts whose contrast is below a limit: those of elements, and those that the canvas has in the colours of the
// style sheet.
const faintTexts = `((least) => {
	const parse = (text) => {
		const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		probe.fillStyle = text;
		const hex = probe.fillStyle;
		if (hex.startsWith("#")) return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).concat(1);
		return hex.match(/[\d.]+/g).map(Number);
	};
	const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
		const v = c[i] / 255;
		return sum + part * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	}, 0);
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const root = getComputedStyle(document.documentElement), ground = parse(root.getPropertyValue("--ground").trim());
	const found = [];
	const check = (what, colour, background) => {
		const c = contrast(over(colour, background), background);
		if (c < least) found.push("found " + c.toFixed(2) + ":1 of " + what + ": want at least " + least + ":1");
	};

	const background = (e) => {
		const chain = [];
		for (let p = e; p; p = p.parentElement) chain.unshift(parse(getComputedStyle(p).backgroundColor));
		return chain.reduce((below, c) => over(c, below), ground);
	};
	const opacity = (e) => { let all = 1; for (let p = e; p; p = p.parentElement) all *= Number(getComputedStyle(p).opacity); return all; };
	const seen = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "") || !e.checkVisibility() || /^(SCRIPT|STYLE|TITLE|OPTION)$/i.test(e.tagName)) continue;
		const style = getComputedStyle(e), colour = parse(e instanceof SVGElement ? style.fill : style.color);
		colour[3] *= opacity(e);
		const what = e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (typeof e.className === "string" && e.className ? "." + e.className.replaceAll(" ", ".") : "") +
			" in " + (e.closest("[id]") || document.body).id;
		const key = what + colour + background(e);
		if (seen.has(key)) continue;
		seen.add(key);
		check(what, colour, background(e));
	}
	if (seen.size < 20) found.push("found " + seen.size + " kinds of text: want those of a whole page");

	const v = (name) => parse(root.getPropertyValue("--" + name).trim());
	const rows = { ground, raised: over(v("raised"), ground), row: over(v("row"), ground), band: over(v("band"), ground), hit: over(v("hit"), ground) };
	for (const [name, below] of Object.entries(rows)) for (const text of ["text", "faint"]) check(text + " on the canvas over " + name, v(text), below);
	for (const name of ["alarm", "mark", "accent"]) check("flags in " + name, v(name), ground);
	for (const phase of ["booting", "joining", "serving", "notready", "cordoned", "draining", "terminating", "area"]) {
		const plate = ground.slice();
		plate[3] = 0.88;
		check("a label over " + phase, v("text"), over(plate, v(phase)));
	}
	return found;
})(%v)`
