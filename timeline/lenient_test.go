package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// told writes what events say in full.
func told(events []Event) string {
	var b strings.Builder
	for _, ev := range events {
		fmt.Fprintf(&b, "%s %s %s/%s %s %s %s", FormatAt(ev.At), ev.Type, ev.Resource, ev.Name, ev.RV, ev.Object, ev.Reason)
		for _, m := range ev.Extra {
			fmt.Fprintf(&b, " %s=%s", m.Name, m.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// What people and other programs write is understood.
func TestLenientTapes(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	const addedSays = `1s ADDED nodes/n 5 {"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"5"},"spec":{}} ` + "\n"
	for story, c := range map[string]struct{ tape, want, torn string }{
		"no events":       {head + "---\n", "", ""},
		"CRLF":            {crlf(head + added), addedSays, ""},
		"BOM":             {"\ufeff" + head + added, addedSays, ""},
		"a mark first":    {"---\n" + head + added, addedSays, ""},
		"comments":        {"# by hand\n" + head + "# first\n\n" + added + "  # between\n...\n" + `--- {"at":"2s","type":"MARK","name":"m"}` + "\n# last\n", addedSays + "2s MARK /m   \n", ""},
		"comments first":  {"# by hand\n\n---\n" + head + added, addedSays, ""},
		"NULs after it":   {head + added + `--- {"at":"2s","ty` + strings.Repeat("\x00", MaxLine+1<<19), addedSays, "a tail of NUL bytes was dropped"},
		"spaces":          {head + "---   \t" + strings.TrimPrefix(strings.TrimSpace(added), "--- ") + " \t\n", addedSays, ""},
		"JSON lines":      {head + "---\n" + strings.TrimPrefix(added, "--- ") + `{"at":"2s","type":"MARK","name":"m"}` + "\n", addedSays + "2s MARK /m   \n", ""},
		"unknown types":   {head + `--- {"at":"0s","type":"NOTE","by":{"hand":1e3}}` + "\n" + `--- {"at":"0s","type":"BOOKMARK","resource":"nodes","rv":"5"}` + "\n", "0s NOTE /    by={\"hand\":1e3}\n0s BOOKMARK nodes/ 5  \n", ""},
		"unknown members": {head + strings.Replace(added, `"at"`, `"by":"hand","at"`, 1), strings.TrimSuffix(addedSays, "\n") + " by=\"hand\"\n", ""},
		"not UTF-8":       {head + "--- {\"at\":\"0s\",\"type\":\"MARK\",\"name\":\"a\xffb\"}\n", "0s MARK /a\ufffdb   \n", ""},
		"blocks by hand": {head + `---
at: 0s
type: ADDED
resource: nodes
name: n          # the old one
rv: 481
object:
  metadata:
    creationTimestamp: 2026-11-20T22:21:05Z
    labels: {pool: 'blue', mode: "0755"}
  spec:
    microTime: 2026-11-20T22:21:05.120000Z
    day: 2026-11-20
    big: 1e3
    version: 1.10
    yes: yes
    unschedulable: true
    nothing: ~

---
at: 1.5s
type: MODIFIED
resource: nodes
name: n
rv: 482
patch: {spec: {microTime: null, day: null, big: null, version: null, "yes": null}}
`,
			`0s ADDED nodes/n 481 {"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"481","creationTimestamp":"2026-11-20T22:21:05Z","labels":{"pool":"blue","mode":"0755"}},"spec":{"microTime":"2026-11-20T22:21:05.120000Z","day":"2026-11-20","big":1e3,"version":1.10,"yes":"yes","unschedulable":true,"nothing":null}} ` + "\n" +
				`1.5s MODIFIED nodes/n 482 {"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"482","creationTimestamp":"2026-11-20T22:21:05Z","labels":{"pool":"blue","mode":"0755"}},"spec":{"unschedulable":true,"nothing":null}} ` + "\n", ""},
		"a torn block":        {head + added + "---\nat: 2s\ntype: MA", addedSays, "a last line without its end was dropped"},
		"a torn line":         {head + added + `--- {"at":"2s","ty`, addedSays, "a last line without its end was dropped"},
		"a tail of NULs":      {head + added + "\x00\x00\x00", addedSays, "a tail of NUL bytes was dropped"},
		"a long tail of NULs": {head + added + strings.Repeat("\x00", 5<<20), addedSays, "a tail of NUL bytes was dropped"},
		"no newline":          {head + strings.TrimSpace(added), "", "a last line without its end was dropped"},
		"END counts too many": {head + added + `--- {"at":"2s","type":"END","events":7}` + "\n", addedSays + "2s END /   \n", "END counts 7 lines, there are 2 lines"},
		"END counts too few":  {head + added + `--- {"at":"2s","type":"END","events":1}` + "\n", addedSays + "2s END /   \n", "END counts 1 line, there are 2 lines"},
		"DELETED says all": {head + added + `--- {"at":"2s","type":"DELETED","resource":"nodes","name":"n","uid":"u","rv":"6","object":{"metadata":{"name":"n","uid":"u","resourceVersion":"6"}}}` + "\n",
			addedSays + `2s DELETED nodes/n 6 {"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"6"}} ` + "\n", ""},
		"DELETED without rv": {head + added + `--- {"at":"2s","type":"DELETED","resource":"nodes","name":"n"}` + "\n",
			addedSays + `2s DELETED nodes/n  {"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"5"},"spec":{}} ` + "\n", ""},
		"a group after the plural": {strings.Replace(head, `group: ""`, `group: "x.io"`, 1) + strings.Replace(added, `"nodes"`, `"nodes.x.io"`, 1),
			`1s ADDED nodes.x.io/n 5 {"kind":"Node","apiVersion":"x.io/v1","metadata":{"name":"n","uid":"u","resourceVersion":"5"},"spec":{}} ` + "\n", ""},
		"another kind inside": {head + strings.Replace(added, `{"spec"`, `{"kind":"NodeV2","spec"`, 1),
			`1s ADDED nodes/n 5 {"apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"5"},"kind":"NodeV2","spec":{}} ` + "\n", ""},
	} {
		t.Run(story, func(t *testing.T) {
			events, r, err := drain([]byte(c.tape))
			if err != nil {
				t.Fatal(err)
			}
			if got := told(events); got != c.want {
				t.Errorf("it says\n%swant\n%s", got, c.want)
			}
			if r.Torn() != c.torn {
				t.Errorf("torn %q, want %q", r.Torn(), c.torn)
			}
		})
	}
}
