package live

import (
	"errors"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func shipped(t *testing.T, name string) *scenarios.File {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A speed that no live run can have is an error that names it and the limits.
func TestSpeedsThatCannotBe(t *testing.T) {
	file := shipped(t, "minimal")
	for _, s := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 0.001} {
		if _, err := New(&rest.Config{}, file, Speed(s)); err == nil || !strings.HasSuffix(err.Error(), ": want a number from 0.01 to 10000") {
			t.Errorf("speed %v: error %v, want the limits", s, err)
		}
		if _, err := New(&rest.Config{}, file, ClusterSpeed(s)); (err == nil) != (s == 0) {
			t.Errorf("speed %v of the cluster: error %v", s, err)
		}
	}
	if _, err := New(&rest.Config{}, file, RenewEvery(-time.Second)); err == nil || !strings.Contains(err.Error(), "want a time above 0") {
		t.Errorf("leases renewed every -1s: error %v", err)
	}
	for _, s := range []float64{0.01, 1, 10_000} {
		if _, err := New(&rest.Config{}, file, Speed(s), ClusterSpeed(s)); err != nil {
			t.Errorf("speed %v: %v", s, err)
		}
	}
}

// Leases are renewed as the control plane wants it, whatever the scenario's speed, and
// never so seldom that a living node is taken for lost.
func TestRenewal(t *testing.T) {
	for _, c := range []struct {
		speed float64
		nodes int
		want  time.Duration
	}{
		{1, 3, 10 * time.Second}, {1, 5000, 10 * time.Second}, {0.5, 3, 10 * time.Second},
		{20, 3, 500 * time.Millisecond}, {30, 3, 333333333}, {1000, 3, 200 * time.Millisecond},
		{20, 80, 800 * time.Millisecond}, {20, 1000, time.Second},
	} {
		if got := Renewal(c.speed, c.nodes); got != c.want {
			t.Errorf("at %vx with %d nodes: every %s, want %s", c.speed, c.nodes, got, c.want)
		}
	}
	for speed := 0.01; speed < 10_000; speed *= 1.7 {
		grace := max(time.Duration(float64(50*time.Second)/speed), time.Second)
		for _, nodes := range []int{1, 30, 1000, 20_000} {
			if every := Renewal(speed, nodes); every*5/2 > grace+time.Microsecond || every <= 0 {
				t.Errorf("at %vx with %d nodes: every %s, in a grace period of %s", speed, nodes, every, grace)
			}
		}
	}
	r := run{Runner: &Runner{file: &scenarios.File{File: spec.File{}}, speed: 5, hurried: 30}}
	if got := r.renewal(); got != Renewal(30, 0) {
		t.Errorf("a scenario at 5x in a cluster at 30x: every %s", got)
	}
	r.hurried = 1
	if got := r.renewal(); got != 10*time.Second {
		t.Errorf("a scenario at 5x in a cluster at 1x: every %s", got)
	}
	r.renew = 3 * time.Second
	if got := r.renewal(); got != 3*time.Second {
		t.Errorf("as it was told: every %s", got)
	}
}

// What is to be done about another live run is a command that works.
func TestRemedyOfAnotherLiveRun(t *testing.T) {
	for _, c := range []struct {
		name string
		e    OtherRunError
		want string
	}{
		{"shipped", OtherRunError{Scenario: "surge"}, "want it removed first: nodesim simulate surge --live --cleanup"},
		{"a file", OtherRunError{Scenario: "mine", Source: "'/w/a b/mine.yaml'"}, "want it removed first: nodesim simulate '/w/a b/mine.yaml' --live --cleanup"},
		{"a file called as what is shipped", OtherRunError{Scenario: "surge", Source: "/w/surge.yaml"}, "want it removed first: nodesim simulate /w/surge.yaml --live --cleanup"},
		{"in a context", OtherRunError{Scenario: "surge", Flags: " --context=kind-test"}, "want it removed first: nodesim simulate surge --live --cleanup --context=kind-test"},
		{"standard input", OtherRunError{Scenario: "mine", Source: "-", Flags: " --context=kind-test"}, "want it removed first: nodesim simulate FILE --live --cleanup --context=kind-test, with the FILE of mine"},
		{"nobody knows from where", OtherRunError{Scenario: "mine"}, "want it removed first: nodesim simulate FILE --live --cleanup, with the FILE of mine"},
		{"performed lately", OtherRunError{Scenario: "surge", Recent: true}, "want that one to end first, or, where it was killed, to be removed: nodesim simulate surge --live --cleanup"},
		{"performed now", OtherRunError{Scenario: "surge", Flags: " --context=kind-test", Running: true}, "want that one to end first"},
	} {
		if got := c.e.Error(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s\nwant at its end: %s", c.name, got, c.want)
		}
	}
}

// The record says by which file a scenario is known, and refuses in its words.
func TestRecordKnowsTheFile(t *testing.T) {
	p, err := New(&rest.Config{Host: "https://c"}, shipped(t, "minimal"), CalledBy("./mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	l := &checkpointLock{p: p, now: checkpoint{Scenario: "other", Source: "/w/other.yaml"}}
	var other *OtherRunError
	if err := p.refuse(checkpointOf(l.object())); !errors.As(err, &other) || other.Source != "/w/other.yaml" {
		t.Errorf("error %v: want the file of the other one", err)
	}
	// One that was noted without, by the same name.
	if err := p.refuse(checkpoint{Scenario: p.label, Values: "[]"}); !errors.As(err, &other) || other.Source != "./mine.yaml" {
		t.Errorf("error %v: want this one's file", err)
	}
}
