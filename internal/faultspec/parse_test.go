package faultspec

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"drop:nodes,type=DELETED,p=0.2,seed=7": {Kind: "drop", Resource: "nodes", Types: "DELETED", P: 0.2, Seed: 7},
		"close:pods,at=T+1m":                   {Kind: "close", Resource: "pods", Timed: true, At: time.Minute},
		"close:pods,at=0s,lose=DELETED+ADDED":  {Kind: "close", Resource: "pods", Timed: true, Lose: "DELETED+ADDED"},
		"429:nodes,retry-after=5s,for=30s":     {Kind: "429", Resource: "nodes", RetryAfter: 5 * time.Second, For: 30 * time.Second},
		"unobserved":                           {Kind: "unobserved"},
		`drop:PDB,selector="app=web,tier!=db",name=web-*,namespace=shop`: {Kind: "drop", Resource: "PDB",
			Selector: "app=web,tier!=db", Name: "web-*", Namespace: "shop"},
		"drop:poddisruptionbudgets.policy,when=node:ip-10-0-1-10:draining,count=2,event=3": {Kind: "drop", Resource: "poddisruptionbudgets.policy",
			When: When{Of: "node", Name: "ip-10-0-1-10", State: "draining"}, Count: 2, Event: 3},
		"500,verb=write+get+write,when=mark:surge": {Kind: "500", Verbs: "write+get", When: When{Of: "mark", Name: "surge", State: "mark"}},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s:\n got %+v %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"dorp:nodes":                    `character 1: found kind "dorp", want drop, delay, duplicate, coalesce, reorder, slow, bookmarks, recreate, close, gone, stall, stale, unobserved, intermediate, stale-list, 409, 429, 500, timeout; did you mean drop?`,
		"drop:":                         `character 6: found resource "", want one such as nodes, po, Node or poddisruptionbudgets.policy`,
		"drop:nodes,tpye=DELETED":       `character 12: found parameter "tpye", want of drop one of namespace, name, selector, type, at, for, event, p, seed, when, count; did you mean type?`,
		"drop:nodes,type":               `character 12: found type without a value, want type=TYPE+…`,
		"drop:nodes,":                   `character 12: found parameter "", want of drop one of namespace, name, selector, type, at, for, event, p, seed, when, count`,
		"drop,type=DELETED,type=ADDED":  `character 19: found type twice, want it once`,
		"drop,type=ADDED+DELTED":        `character 11: found type "DELTED", want ADDED, MODIFIED, DELETED, joined by "+"; did you mean DELETED?`,
		"drop,p=1.5":                    `character 8: found p "1.5", want a probability above 0 and at most 1, such as 0.2`,
		"drop,p=NaN":                    `character 8: found p "NaN", want a probability above 0 and at most 1, such as 0.2`,
		"drop,seed=7":                   `found seed without p, want p as well, such as p=0.2`,
		"close,type=ADDED,lose=DELETED": `found lose and type, want one of them: lose says which events it closes before`,
		"close,at=T-3s":                 `character 10: found at "T-3s", want a position on the tape such as T+30s or 1m32.4s`,
		"delay,by=5":                    `character 10: found by "5", want a time above zero with its unit, such as 5s or 1m30s`,
		"drop,count=0":                  `character 12: found count "0", want a whole number from 1 to 2147483647`,
		"drop,when=node:a:drainng":      `character 11: found when "drainng", want joining, online, cordoned, draining, notready, terminated, evicted, blocked, unblocked, pressure, warning; did you mean draining?`,
		"drop,when=noed:a:draining":     `character 11: found when "noed:a:draining", want node:NAME:STATE such as node:ip-10-0-*:draining, mark:NAME, complete or failed; did you mean node?`,
		`drop,selector="a=b`:            `character 15: found a quoted value without its end, want "…" as Go writes strings, then a comma or the end`,
		"drop,selector=a b":             `character 15: found selector "a b", want a label selector such as app=web or "app=web,tier!=db"`,
		"drop,name=[":                   `character 11: found name "[", want a name, or a pattern such as ip-10-0-*`,
		"gone,in=opne":                  `character 9: found in "opne", want stream or open; did you mean open?`,
		"bookmarks,initial=yes":         `character 19: found initial "yes", want true or false`,
		"drop,name=" + strings.Repeat("x", longest): "found 4106 bytes, want at most 4096",
	} {
		_, err := Parse(text)
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		got := strings.TrimPrefix(err.Error(), "fault "+strconv.Quote(text)+": ")
		if len(text) < 100 && got != want || !strings.Contains(err.Error(), "fault ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// A Spec that was written reads back as it was, whatever it holds.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	samples := map[string][]string{
		"namespace": {"shop", "*", "ä,b\"c\n"}, "name": {"web-[a-c]", `x\*y`, "\xff"}, "selector": {"a=b", "a in (b,c),d!=e", "!x"},
		"type": types, "verb": verbs, "at": {"T+0s", "90s", "1h2m3.000000004s"}, "for": {"1ns", "3h"}, "event": {"1", "9"},
		"p": {"1", "1e-9", "0.30000000000000004"}, "seed": {"0", "18446744073709551615"}, "count": {"3"},
		"when": {"node:a:b:online", "node:*:draining", "mark:a:b,c", "complete", "failed"},
		"by":   {"1.5s"}, "within": {"2m"}, "every": {"10ms"}, "times": {"100"}, "lose": {"DELETED", "ADDED+DELETED"},
		"in": {"stream", "open"}, "initial": {"true", "false"}, "retry-after": {"7s"},
	}
	if len(samples) != len(params) {
		t.Fatalf("samples of %d parameters, there are %d", len(samples), len(params))
	}
	for range 5000 {
		k := kinds[r.IntN(len(kinds))]
		text := k.Name
		if r.IntN(2) == 0 {
			text += ":nodes.v1"
		}
		names := slices.Clone(k.Params)
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, n := range names[:r.IntN(len(names)+1)] {
			v := samples[n]
			text += "," + n + "=" + strconv.Quote(v[r.IntN(len(v))])
		}
		s, err := Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "seed without p") || strings.Contains(err.Error(), "lose and type") {
				continue
			}
			t.Fatal(err)
		}
		again, err := Parse(s.String())
		if err != nil || again != s || again.String() != s.String() {
			t.Fatalf("%s\nbecame %s\nread as %+v %v\nwant    %+v", text, s, again, err, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"drop:nodes,type=DELETED,p=0.2,seed=7", `close,selector="a=b,c",when=node:a:online`, "429:x,retry-after=5s,verb=read", "stale,by=1s,at=T+3s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if again, err := Parse(s.String()); err != nil || again != s {
			t.Errorf("%q became %q: %+v, %v, want %+v", text, s, again, err, s)
		}
	})
}

// Every parameter of a kind is one that there is, and every one belongs to some.
func TestTables(t *testing.T) {
	used := map[string]bool{}
	for _, k := range Kinds() {
		for _, name := range k.Params {
			if paramOf(name).set == nil {
				t.Errorf("%s takes %s, which isn't read", k.Name, name)
			}
			used[name] = true
		}
		if k.Does == "" || k.Default.Kind != "" {
			t.Errorf("%s: says %q, defaults %+v", k.Name, k.Does, k.Default)
		}
	}
	for _, p := range Params() {
		if !used[p.Name] || p.Does == "" || p.Value == "" {
			t.Errorf("%s: taken by a kind: %v, says %q", p.Name, used[p.Name], p.Does)
		}
	}
}
