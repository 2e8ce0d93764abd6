package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

func header() timeline.Header {
	return timeline.Header{
		Metadata: timeline.Metadata{Name: "test", Start: timeline.Time{Time: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)}},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
			{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
		},
	}
}

// script builds a tape from one event a line:
//
//	AT TYPE RESOURCE NAME [word...]
//
// For nodes the words are ready, notready, cordoned, image=X, uid=X; for pods
// node=X, deleting, daemonset, failed; for budgets allowed=N.
func script(t testing.TB, text string) *timeline.Reader {
	t.Helper()
	var b bytes.Buffer
	w, err := timeline.NewWriter(&b, header())
	if err != nil {
		t.Fatal(err)
	}
	rv := 100
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		at, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		rv++
		ev := timeline.Event{At: at, Type: timeline.Type(words[1]), RV: fmt.Sprint(rv)}
		switch ev.Type {
		case timeline.Mark:
			ev.Name, ev.RV = words[2], ""
		case timeline.Sync, timeline.Gap:
			ev.Resource = words[2]
			if ev.Type == timeline.Gap {
				ev.Reason = "410 Expired"
			}
		default:
			ev.Resource, ev.Name = words[2], words[3]
			object(&ev, words[4:])
		}
		if err := w.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := timeline.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func object(ev *timeline.Event, words []string) {
	said := map[string]string{"uid": "uid-" + ev.Name, "image": "ami-1"}
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		said[k] = v
	}
	has := func(k string) bool { _, ok := said[k]; return ok }
	ev.UID = said["uid"]
	meta := fmt.Sprintf(`"name":%q,"uid":%q,"resourceVersion":%q`, ev.Name, ev.UID, ev.RV)
	switch ev.Resource {
	case "nodes":
		ready := "False"
		if has("ready") {
			ready = "True"
		}
		ev.Object = fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{%s,"labels":{"eks.amazonaws.com/nodegroup":"g","eks.amazonaws.com/nodegroup-image":%q},"creationTimestamp":"2026-11-20T22:00:%02dZ"},"spec":{"unschedulable":%v},"status":{"conditions":[{"type":"MemoryPressure","status":"%s"},{"type":"Ready","status":%q,"reason":"R"}]}}`,
			meta, said["image"], len(ev.RV), has("cordoned"), map[bool]string{true: "True", false: "False"}[has("pressure")], ready)
	case "pods":
		ev.Namespace = "default"
		owner, deletion, phase := "ReplicaSet", "", "Running"
		if has("daemonset") {
			owner = "DaemonSet"
		}
		if has("deleting") {
			deletion = `,"deletionTimestamp":"2026-11-20T22:00:30Z"`
		}
		if has("failed") {
			phase = "Failed"
		}
		ev.Object = fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{%s,"namespace":"default","labels":{"app":"web"},"ownerReferences":[{"kind":%q,"name":"o"}]%s},"spec":{"nodeName":%q},"status":{"phase":%q,"conditions":[{"type":"Ready","status":"True"}]}}`,
			meta, owner, deletion, said["node"], phase)
	case "poddisruptionbudgets":
		ev.Namespace = "default"
		ev.Object = fmt.Appendf(nil, `{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{%s,"namespace":"default","generation":1},"spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"observedGeneration":1,"disruptionsAllowed":%s,"currentHealthy":2,"desiredHealthy":2}}`, meta, said["allowed"])
	case "events":
		ev.Namespace = "default"
		ev.Object = fmt.Appendf(nil, `{"kind":"Event","apiVersion":"v1","metadata":{%s,"namespace":"default"},"involvedObject":{"kind":"Node","name":%q},"reason":"Rebooted","message":"boot","type":"Warning","lastTimestamp":"2026-11-20T22:00:05Z"}`, meta, said["node"])
	}
}

func feedOf(t testing.TB, r *timeline.Reader, o Options) string {
	t.Helper()
	var b []byte
	if err := Feed(r, o, func(e noderoll.Entry) error {
		b = append(noderoll.TextFormat{}.Append(b, e), '\n')
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func verbose() Options {
	return Options{FeedOptions: noderoll.FeedOptions{Verbose: true}}
}

func wantFeed(t *testing.T, got, want string) {
	t.Helper()
	// Columns are the text form's business: compare words.
	squeeze := func(s string) (out []string) {
		for _, l := range strings.Split(strings.TrimSpace(s), "\n") {
			out = append(out, strings.Join(strings.Fields(l), " "))
		}
		return out
	}
	if d := cmp.Diff(squeeze(want), squeeze(got)); d != "" {
		t.Errorf("feed (-want +got):\n%s", d)
	}
}

const roll = `
0s ADDED nodes a ready
0s SYNC nodes
0s ADDED pods p1 node=a
0s ADDED pods d1 node=a daemonset
0s SYNC pods
0s ADDED poddisruptionbudgets b allowed=0
0s SYNC poddisruptionbudgets
0s SYNC events
5s ADDED nodes b image=ami-2
15s MODIFIED nodes b image=ami-2 ready
20s MODIFIED nodes a ready cordoned
22s MARK half
40s MODIFIED poddisruptionbudgets b allowed=1
41s MODIFIED pods p1 node=a deleting
43s DELETED pods p1 node=a
44s ADDED events e1 node=b
50s DELETED nodes a ready cordoned
`

func TestFeedTellsTheRoll(t *testing.T) {
	wantFeed(t, feedOf(t, script(t, roll), verbose()), `
T+5.000s       joining     b
T+15.000s      online      b
T+20.000s      cordoned    a
T+22.000s      mark - half
T+30.000s      blocked     a  PodDisruptionBudget/default/b  DisruptionBudget needs 2 healthy pods and has 2; 1 pod waits
T+40.000s      unblocked   a
T+41.000s      draining    a
T+43.000s      evicted     a  Pod/default/p1
T+44.000s      warning     b  Node/b  Rebooted boot
T+50.000s      terminated  a
T+50.000s      complete - 1 node on target
`)
}

// A list found again takes effect at once, at its SYNC; one without a SYNC never.
func TestGapTakesEffectAtSync(t *testing.T) {
	const before = "0s ADDED nodes a ready\n0s ADDED nodes b ready\n0s SYNC nodes\n"
	const gap = "10s GAP nodes\n12s MODIFIED nodes a ready cordoned\n13s DELETED nodes b ready\n14s ADDED nodes c ready\n"
	f := New(script(t, before).Header(), verbose())
	r := script(t, before+gap+"15s SYNC nodes\n")
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Apply(ev); err != nil {
			t.Fatal(err)
		}
		s, err := f.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type != timeline.Sync && ev.At > 0 && (s.Total != 2 || s.Draining != 0) {
			t.Errorf("at %s, inside of the block, the group is %+v", ev.At, s)
		}
	}
	wantFeed(t, feedOf(t, script(t, before+gap+"15s SYNC nodes\n"), verbose()),
		"T+10.000s gap - nodes 410 Expired\nT+15.000s cordoned a\nT+15.000s online c\nT+15.000s terminated b\n")
	wantFeed(t, feedOf(t, script(t, before+gap), verbose()), "T+10.000s gap - nodes 410 Expired")
}

// A tape written by hand may leave SYNCs out.
func TestListWithoutSync(t *testing.T) {
	wantFeed(t, feedOf(t, script(t, "0s ADDED nodes a ready\n0s ADDED nodes b ready\n3s ADDED nodes c ready\n"), verbose()), "T+3.000s online c")
}

// randomRoll is a tape of nodes that do whatever nodes may do.
func randomRoll(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	alive := map[string]string{}
	at, gap := 0, false
	fmt.Fprintf(&b, "0s ADDED nodes n0 ready\n0s SYNC nodes\n")
	alive["n0"] = "uid=u0"
	for i := range 200 {
		at += r.IntN(3)
		name := fmt.Sprintf("n%d", r.IntN(6))
		words := []string{"ready", "notready", "ready cordoned", "notready cordoned"}[r.IntN(4)]
		if r.IntN(5) == 0 {
			words += " image=ami-2"
		}
		switch uid, ok := alive[name]; {
		case !gap && r.IntN(30) == 0:
			gap = true
			fmt.Fprintf(&b, "%ds GAP nodes\n", at)
		case gap && r.IntN(5) == 0:
			gap = false
			fmt.Fprintf(&b, "%ds SYNC nodes\n", at)
		case !ok:
			alive[name] = fmt.Sprintf("uid=u%d", i)
			fmt.Fprintf(&b, "%ds ADDED nodes %s %s %s\n", at, name, alive[name], words)
		case r.IntN(5) == 0:
			delete(alive, name)
			fmt.Fprintf(&b, "%ds DELETED nodes %s %s %s\n", at, name, uid, words)
		default:
			fmt.Fprintf(&b, "%ds MODIFIED nodes %s %s %s\n", at, name, uid, words)
		}
	}
	return strings.Replace(b.String(), "0s ADDED nodes n0 ready", "0s ADDED nodes n0 uid=u0 ready", 1)
}

// tracked is what a Tracker calls a transition of nodes without pods, which nothing
// shows to be drained.
func tracked(k noderoll.EventKind) noderoll.EventKind {
	if k == noderoll.EvtCordoned {
		return noderoll.EvtDraining
	}
	return k
}

// opened is a source that can be read once.
type opened struct{ *timeline.Reader }

func (o opened) Open() (timeline.Stream, error) { return o.Reader, nil }

// A script of a group that isn't on the tape is an error, and not one without
// snapshots.
func TestScriptOfNothing(t *testing.T) {
	r := script(t, "0s ADDED nodes a ready\n0s SYNC nodes\n")
	r.Header().Scope.Nodegroup = "other"
	if _, err := Script(opened{r}); err == nil || !strings.Contains(err.Error(), `no node of group "other": found g: want`) {
		t.Errorf("got %v, want that there is g alone", err)
	}
	if _, err := Script(timeline.File("missing.yaml")); err == nil {
		t.Error("a tape that isn't there is no error")
	}
}

// A Tracker over the frames, through a ScriptedObserver, tells the same
// transitions as the feed of the tape.
func TestFramesTellTheSame(t *testing.T) {
	told := 0
	for seed := range uint64(50) {
		text := randomRoll(seed)
		var want []noderoll.Event
		if err := Feed(script(t, text), Options{}, func(e noderoll.Entry) error {
			if e.Node != "" {
				want = append(want, noderoll.Event{Node: e.Node, Kind: tracked(e.Kind)})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		observer, err := Script(opened{script(t, text)})
		if err != nil {
			t.Fatal(err)
		}
		tracker := noderoll.NewTracker()
		var got []noderoll.Event
		for !observer.AtEnd() {
			s, err := observer.Snapshot(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			tracker.Observe(s)
			got = append(got, tracker.Events...)
			tracker.Events = nil
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d, tape\n%s\n(-feed +frames):\n%s", seed, text, d)
		}
		told += len(want)
	}
	if told < 1000 {
		t.Errorf("only %d transitions: the trial says little", told)
	}
}

func TestGroupsAreThoseOfAllNodes(t *testing.T) {
	o := Options{}
	o.Pool = "other"
	r := script(t, "0s ADDED nodes a ready\n0s SYNC nodes\n")
	f := New(r.Header(), o)
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Apply(ev); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := f.Snapshot(t.Context()); err != nil || s.Total != 0 {
		t.Errorf("a group that isn't there has %d nodes (%v)", s.Total, err)
	}
	if d := cmp.Diff([]string{"g"}, f.Groups()); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	if err := f.Unmatched(); err == nil || !strings.Contains(err.Error(), `no node of group "other": found g: want`) {
		t.Errorf("nothing to show: %v, want that there is g alone", err)
	}
	if f.Reset(); len(f.Groups()) != 0 {
		t.Errorf("at the beginning: %q", f.Groups())
	}
}

func TestOptionsFromHeader(t *testing.T) {
	h := header()
	h.Scope = timeline.Scope{Provider: "eks", Nodegroup: "g"}
	o, err := OptionsFor(&h, "", "", "ami-2")
	if err != nil || o.Pool != "g" || o.Provider.Name != "eks" || o.Target.Image != "ami-2" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, _ := OptionsFor(&h, "gke", "other", ""); o.Pool != "other" || o.Provider.Name != "gke" {
		t.Errorf("what is given counts: %+v", o)
	}
	if _, err := OptionsFor(&h, "ecs", "", ""); err == nil {
		t.Error("an unknown provider was taken")
	}
}
