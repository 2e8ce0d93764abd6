package fault_test

import (
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// A fault that can't be is an error of NewPlayer, in one line.
func TestWhatCantBeInjected(t *testing.T) {
	for spec, want := range map[string]string{
		"drop:ndoes":      `fault "drop:ndoes": character 6: found resource "ndoes", want one of the tape's: nodes, pods; did you mean nodes?`,
		"drop:pdb,at=3s":  `fault "drop:pdb,at=T+3s": character 6: found resource "pdb", want one of the tape's: nodes, pods`,
		"drop:events":     `fault "drop:events": character 6: found resource "events", want one of the tape's: nodes, pods`,
		"drop,at=tomorow": `fault "drop,at=tomorow": character 9: found at "tomorow", want a position on the tape such as T+30s or 1m32.4s`,
	} {
		_, err := replay.NewPlayer(replay.Events(header(), nil), fault.Inject(spec))
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", spec, err, want)
		}
		if _, again := replay.NewPlayer(replay.Events(header(spec), nil), fault.Inject()); again == nil || again.Error() != `header of tape "`+header().Metadata.Name+`", faults[0]: `+err.Error() {
			t.Errorf("%s in the header: %v, want %v", spec, again, err)
		}
	}
	if _, err := replay.NewPlayer(replay.Events(&timeline.Header{}, nil), fault.Inject("drop:nodes")); err == nil {
		t.Error("a tape of nothing: no error")
	}
}

// Whatever a resource may be called, it is found.
func TestNamesOfResources(t *testing.T) {
	for _, name := range []string{"nodes", "no", "Node", "node", "NODES", "po", "pods", "Pod"} {
		p, err := replay.NewPlayer(replay.Events(header(), nil), fault.Inject("drop:"+name))
		if err != nil {
			t.Error(err)
			continue
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	h := header()
	h.Resources = append(h.Resources, timeline.Resource{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true})
	for _, name := range []string{"pdb", "poddisruptionbudgets", "poddisruptionbudgets.policy", "poddisruptionbudget"} {
		if _, err := replay.NewPlayer(replay.Events(h, nil), fault.Inject("drop:"+name)); err != nil {
			t.Error(err)
		}
	}
}

// Without faults a Player is as it was.
func TestNothingInjected(t *testing.T) {
	p, err := replay.NewPlayer(replay.Events(header(), nil), fault.Inject())
	if err != nil {
		t.Fatal(err)
	}
	if p.Cluster().HasFaultInjector() {
		t.Error("something stands between")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
