package recorder

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// An object that no tape can have is left out, with a MARK in its place; what comes before and after it is on the tape. So
// nobody who may create a pod can end the recording.
func TestAnObjectThatIsTooLarge(t *testing.T) {
	header := timeline.Header{Resources: []timeline.Resource{{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}}}
	header.Metadata.Name = "large"
	var out bytes.Buffer
	w, err := timeline.NewWriter(&out, header)
	if err != nil {
		t.Fatal(err)
	}
	l := newSequencer(w.Header(), nil)
	l.tape = w
	pods := l.states[0]
	pods.listed = true
	change := func(at time.Duration, typ timeline.Type, name string, version, size int) {
		t.Helper()
		raw := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","resourceVersion":"%d","uid":"u-%s"},"spec":{"containers":[{"image":%q,"name":"c"}]}}`,
			name, version, name, strings.Repeat("i", size))
		if err := l.change(at, pods, typ, raw); err != nil {
			t.Fatal(err)
		}
	}
	const huge = 5 << 20
	change(1*time.Second, timeline.Added, "a", 10, 1)
	change(2*time.Second, timeline.Added, "b", 11, huge)
	change(3*time.Second, timeline.Modified, "a", 12, huge)
	change(4*time.Second, timeline.Modified, "b", 13, 2)
	change(5*time.Second, timeline.Deleted, "a", 14, huge)
	if err := l.end(6*time.Second, EndInterrupted); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := timeline.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(ev.Type, " ", ev.Name, " ", strings.SplitN(ev.Reason, " of ", 2)[0]))
	}
	want := []string{"ADDED a ", "MARK too-large pods shop/b: an object", "MARK too-large pods shop/a: an object", "ADDED b ", "MARK too-large pods shop/a: an object", "DELETED a ", "END  " + EndInterrupted}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := pods.stats; n.TooLarge != 3 || n.Objects != 1 {
		t.Errorf("found %+v, want 3 that were too large and one object", n)
	}
	if lines := leftOut(l.stats().Resources); len(lines) != 1 || lines[0] != "pods: 3 states of objects too large for a tape" {
		t.Errorf("found %q", lines)
	}
}
