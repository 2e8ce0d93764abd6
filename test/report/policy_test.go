package report

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestHostileNamesAreText(t *testing.T) {
	tape, err := filepath.Abs(filepath.Join("testdata", "hostile.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b := report(t, tape)
	if got := b.text("name"); got != `</title><script>window.hacked = 1</script>` {
		t.Errorf("found the title %q: want the tape's name as text", got)
	}
	for _, keys := range []string{"f", ".", ".", "v"} {
		b.press(keys)
	}
	if got := value[int](b, `document.querySelectorAll("script").length`); got != 2 {
		t.Errorf("found %d scripts: want the data and the page's own", got)
	}
	if got := value[int](b, `document.querySelectorAll("main img, table img, main a, table a, iframe, object").length`); got != 0 {
		t.Errorf("found %d elements made of names: want none", got)
	}
	if got := value[string](b, `document.getElementById("table-body").textContent`); !strings.Contains(got, "<img src=x onerror=") {
		t.Errorf("found the table %q: want the node's name as text", got)
	}
	if got := value[string](b, `typeof window.hacked`); got != "undefined" {
		t.Errorf("found window.hacked: want no script from the tape run")
	}
	b.quiet()
}

// TestPolicyHolds tries what a script from data would: each must be refused by the browser.
func TestPolicyHolds(t *testing.T) {
	b := stuck(t)
	for name, attempt := range map[string]string{
		"markup":     `try { document.body.innerHTML = "<b>x</b>"; "done" } catch (e) { e.name }`,
		"eval":       `try { document.body.setAttribute("onclick", "window.hacked = 1"); document.body.click(); typeof window.hacked === "undefined" ? "refused" : "done" } catch (e) { e.name }`,
		"script":     `try { const s = document.createElement("script"); s.textContent = "window.hacked = 1"; document.body.append(s); typeof window.hacked === "undefined" ? "refused" : "done" } catch (e) { e.name }`,
		"javascript": `try { const a = document.createElement("a"); a.href = "javascript:window.hacked = 1"; document.body.append(a); a.click(); typeof window.hacked === "undefined" ? "refused" : "done" } catch (e) { e.name }`,
	} {
		if got := value[string](b, attempt); got == "done" {
			t.Errorf("%s from data had an effect: want it refused by the policy", name)
		}
	}
	if got := value[string](b, `typeof window.hacked`); got != "undefined" {
		t.Error("a script that isn't the page's own ran: want it refused by the policy")
	}
	const connects = `(() => { window.refused = 0; document.addEventListener("securitypolicyviolation", () => { window.refused++; });
		fetch("http://127.0.0.1:9/").catch(() => {}); new Image().src = "http://127.0.0.1:9/x.png"; return "sent"; })()`
	value[string](b, connects)
	if got := value[int](b, `window.refused`); got < 2 {
		t.Errorf("found %d of two requests refused by the policy: want both", got)
	}
}
