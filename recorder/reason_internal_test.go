package recorder

import (
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

type lastLine struct{ ev timeline.Event }

func (l *lastLine) Write(ev timeline.Event) error {
	l.ev = ev
	return nil
}

// The reason of a GAP is a server's or a proxy's text, and may name a URL.
func TestReasonsAreMasked(t *testing.T) {
	tape := &lastLine{}
	l := &sequencer{tape: tape}
	if err := l.write(timeline.Event{Type: timeline.Gap, Resource: "nodes", Reason: "502 Bad Gateway: https://user:hunter2@proxy/"}); err != nil {
		t.Fatal(err)
	}
	if want := "502 Bad Gateway: https://redacted@proxy/"; tape.ev.Reason != want {
		t.Errorf("found %q, want %q", tape.ev.Reason, want)
	}
}
