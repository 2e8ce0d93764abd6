package spec

import (
	"slices"
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// The faults of the watch boundary travel in the tape's header, and a Player
// takes them from there.
func TestStreamFaultsTravelWithTheTape(t *testing.T) {
	d, err := Parse("f.yaml", []byte(small+"stream: ['close:no,at=T+1s', unobserved]\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := f.Header()
	if want := []string{"close:no,at=T+1s", "unobserved"}; !slices.Equal(h.Faults, want) {
		t.Fatalf("the header declares %q, want %q", h.Faults, want)
	}
	h.Metadata.Start = timeline.Time{}
	fired := ""
	p, err := replay.NewPlayer(replay.Events(&h, []timeline.Event{{Type: timeline.Mark, Name: "a"}, {At: 5e9, Type: timeline.Mark, Name: "b"}}),
		fault.InjectAndLog(func(f fault.Fired) { fired += f.String() + "\n" }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Seek(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	if want := "T+1.000s  fault close  nodes\n"; fired != want {
		t.Errorf("fired %q, want %q", fired, want)
	}
}
