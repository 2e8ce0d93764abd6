package timeline

import (
	"bytes"
	"strings"
	"testing"
)

func formatted(t testing.TB, in []byte, style Style) []byte {
	t.Helper()
	var b bytes.Buffer
	torn, err := Format(&b, bytes.NewReader(in), style, Name("tape.yaml"))
	if err != nil || torn != "" {
		t.Fatalf("to %s: %v, torn %q", style, err, torn)
	}
	return b.Bytes()
}

// Whatever way it goes through the styles, a tape says the same, and comes
// back to its lines to the byte.
func TestFormatLosesNothing(t *testing.T) {
	for seed := range uint64(2) {
		want := complete(sampleEvents(seed+40, 100))
		extra := []Member{{Name: "by", Value: []byte(`{"hand":[1.50,1e3,null,"0755"]}`)}, {Name: "<<", Value: []byte(`"yes"`)}}
		want[50].Extra = extra
		last := len(want) - 1
		want = append(want[:last:last], Event{At: want[last].At, Type: "NOTE", Resource: "nodes", Reason: "2026-11-20", Events: 3,
			Object: []byte(`{"a":{}}`), Patch: []byte(`{"b":[]}`), Extra: extra}, want[last])
		// Once read, since a patch brings new members last wherever they stood.
		lines := formatted(t, tape(t, want), StyleLines)
		for _, way := range [][]Style{
			{StyleLines}, {StyleBlock}, {StyleJSON}, {StyleBlock, StyleJSON, StyleBlock}, {StyleJSON, StyleLines, StyleBlock},
		} {
			b := lines
			for _, style := range way {
				b = formatted(t, b, style)
				if again := formatted(t, b, style); !bytes.Equal(again, b) {
					t.Errorf("%v: not the same when done twice", way)
				}
			}
			r := openBytes(t, b)
			got := readAll(t, r)
			wantSame(t, got, want)
			if !r.Complete() {
				t.Errorf("%v: %s", way, r.Torn())
			}
			note := got[len(got)-2]
			if note.Events != 3 || string(note.Patch) != `{"b":[]}` {
				t.Errorf("%v: of an unknown type came back %+v", way, note)
			}
			if back := formatted(t, b, StyleLines); !bytes.Equal(back, lines) {
				t.Errorf("%v and back to lines: other bytes", way)
			}
		}
	}
}

func TestFormatBlock(t *testing.T) {
	in := `apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: x
resources:
  - {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"on","uid":"4dc1","rv":"481","object":{"metadata":{"creationTimestamp":"2026-11-20T22:21:05Z","annotations":{"text":"two\nlines","tab":"a\tb"}},"spec":{"taints":[{"key":"0755","effect":"NoSchedule"}],"pods":58}}}
--- {"at":"1.5s","type":"MODIFIED","resource":"nodes","name":"on","rv":"482","patch":{"spec":{"unschedulable":true,"taints":null}}}
--- {"at":"2s","type":"NOTE","huge":1e999}
`
	want := `apiVersion: nodesim.dev/v1
kind: Timeline
metadata:
  name: x
resources:
  - {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
---
at: 0s
type: ADDED
resource: nodes
name: "on"
uid: 4dc1
rv: "481"
object:
  metadata:
    creationTimestamp: "2026-11-20T22:21:05Z"
    annotations:
      text: |-
        two
        lines
      tab: "a\tb"
  spec:
    taints:
      - key: "0755"
        effect: NoSchedule
    pods: 58
---
at: 1.5s
type: MODIFIED
resource: nodes
name: "on"
rv: "482"
patch:
  spec:
    unschedulable: true
    taints: null
--- {"at":"2s","type":"NOTE","huge":1e999}
`
	if got := string(formatted(t, []byte(in), StyleBlock)); got != want {
		t.Errorf("as blocks:\n%s", got)
	}
	if got := string(formatted(t, []byte(want), StyleJSON)); !strings.HasPrefix(got, `{"apiVersion":"nodesim.dev/v1","kind":"Timeline",`) ||
		strings.Count(got, "\n") != 4 || strings.Contains(got, "---") {
		t.Errorf("as JSON lines:\n%s", got)
	}
}

func TestFormatEdges(t *testing.T) {
	empty := []byte("apiVersion: nodesim.dev/v1\nkind: Timeline\nmetadata:\n  name: x\nseed: 17\n---\n")
	for _, style := range []Style{StyleLines, StyleBlock, StyleJSON} {
		if got := readAll(t, openBytes(t, formatted(t, empty, style))); len(got) != 0 {
			t.Errorf("%s: %d events out of none", style, len(got))
		}
		if r := openBytes(t, formatted(t, empty, style)); r.Header().Extra["seed"].Value != "17" {
			t.Errorf("%s: the header lost what it doesn't know", style)
		}
	}
	torn, err := Format(new(bytes.Buffer), bytes.NewReader(append(empty, `--- {"at":`...)), StyleBlock)
	if err != nil || torn != "a last line without its end was dropped" {
		t.Errorf("a torn tape: %q, %v", torn, err)
	}
	_, err = Format(new(bytes.Buffer), bytes.NewReader(empty), "xml")
	if err == nil || err.Error() != `style "xml": want lines, block or jsonl` {
		t.Error(err)
	}
	contradiction := append(bytes.Clone(empty), `--- {"at":"0s","type":"DELETED","resource":"nodes","name":"n"}`+"\n"...)
	if formatted(t, contradiction, StyleBlock) == nil {
		t.Error("no blocks to mend it in")
	}
	if _, err := Format(new(bytes.Buffer), bytes.NewReader(contradiction), StyleLines); err == nil {
		t.Error("lines that no Reader takes")
	}
	full := &limited{n: 100}
	if _, err := Format(full, bytes.NewReader(tape(t, sampleEvents(1, 5))), StyleBlock); err == nil {
		t.Error("no error from a full disk")
	}
}
