package noderoll_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/noderoll"
)

const (
	imageA = "registry.example/web:1"
	imageB = "registry.example/web:2"
	imageC = "registry.example/web:3"
)

// podScope is the roll of the pods of the app web.
func podScope(t testing.TB) noderoll.PodScope {
	t.Helper()
	s, err := labels.Parse("app=web")
	if err != nil {
		t.Fatal(err)
	}
	return noderoll.PodScope{Namespace: "shop", Selector: s}
}

// podFeed is a Feed of pods that has seen its first lists.
func podFeed(t testing.TB, o noderoll.FeedOptions, first ...noderoll.Instance) *noderoll.Feed {
	t.Helper()
	o.Pods = podScope(t)
	f := noderoll.NewFeed(o)
	for _, i := range first {
		if got := f.SetInstance(0, i); len(got) > 0 {
			t.Fatalf("the first list says %v", got)
		}
	}
	for _, r := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Budgets, noderoll.Events} {
		if got := f.Synced(0, r); len(got) > 0 {
			t.Fatalf("%s synced: %v", r, got)
		}
	}
	return f
}

// webPod is a pod of one container, running and Ready.
func webPod(name, image, id string) noderoll.Instance {
	return noderoll.Instance{
		Pod:        noderoll.Pod{Namespace: "shop", Name: name, UID: "u-" + name, Node: "n1", Phase: "Running", Ready: true, Labels: map[string]string{"app": "web"}},
		Containers: []noderoll.Container{{Name: "web", Image: image, StatusImage: image, ID: id, Running: true, Ready: true}},
	}
}

type podChange struct {
	at   time.Duration
	pod  *noderoll.Instance
	gone string
}

// randomPods are steps in a small world of pods whose containers come and go as
// they like: more than any kubelet would do.
func randomPods(rnd *rand.Rand, n int) []podChange {
	var out []podChange
	var at time.Duration
	for range n {
		at += time.Duration(rnd.IntN(90_000)) * time.Millisecond
		name := fmt.Sprint("p", rnd.IntN(4))
		if rnd.IntN(12) == 0 {
			out = append(out, podChange{at: at, gone: name})
			continue
		}
		p := webPod(name, []string{imageA, imageA, imageB, imageC}[rnd.IntN(4)], fmt.Sprint("id", rnd.IntN(3)))
		p.UID = fmt.Sprint(name, "-", rnd.IntN(8)/7)
		p.Ready = rnd.IntN(4) > 0
		p.Deleting = rnd.IntN(15) == 0
		if rnd.IntN(25) == 0 {
			p.Phase = "Failed"
		}
		c := &p.Containers[0]
		if !p.Ready {
			c.Ready, c.Running = false, rnd.IntN(2) == 0
			c.Waiting = []string{"", "ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff"}[rnd.IntN(4)]
		}
		out = append(out, podChange{at: at, pod: &p})
	}
	return out
}

func (c *podChange) feed(f *noderoll.Feed) []noderoll.Entry {
	if c.pod != nil {
		return f.SetInstance(c.at, *c.pod)
	}
	return f.DeletePod(c.at, "shop", c.gone, "")
}

// naivePodRoll is the roll as one would write it without a thought for cost: the whole
// history of each pod, gone through again for each look.
type naivePodRoll struct {
	history map[string][]podChange
}

func (w *naivePodRoll) apply(c podChange) {
	if c.pod == nil || c.pod.Phase == "Failed" {
		name := c.gone
		if c.pod != nil {
			name = c.pod.Name
			if old := w.history[name]; len(old) > 0 && old[0].pod.UID != c.pod.UID {
				delete(w.history, name)
				return
			}
		}
		delete(w.history, name)
		return
	}
	old := w.history[c.pod.Name]
	if len(old) > 0 && old[0].pod.UID != c.pod.UID {
		old = nil
	}
	w.history[c.pod.Name] = append(old, c)
}

// view tells where one pod stands, from all that was seen of it.
func (w *naivePodRoll) view(history []podChange, now time.Duration) (v noderoll.PodView) {
	type stage struct {
		since           time.Duration
		forbidden, text string
		failed          string
		open            bool
	}
	var s stage
	id, waiting, expected := "", "", ""
	wasReady := false
	original := ""
	for n, h := range history {
		c := &h.pod.Containers[0]
		if s.open && s.failed == "" && h.at >= s.since+noderoll.UpdateDeadline {
			s.failed = "DeadlineExceeded"
		}
		if n > 0 && c.Image != history[n-1].pod.Containers[0].Image {
			forbidden := id
			if s.open && s.forbidden == id && c.Image == original {
				forbidden = ""
			}
			if !s.open {
				original = history[n-1].pod.Containers[0].Image
			}
			s = stage{since: h.at, forbidden: forbidden, text: waiting, open: true}
			v.Restarts, expected = 0, ""
		}
		id, waiting = c.ID, c.Waiting+" "+c.WaitingMessage
		if waiting != s.text {
			s.text = ""
		}
		if s.open {
			if s.text == "" && slices.Contains([]string{"ImagePullBackOff", "CrashLoopBackOff"}, c.Waiting) {
				s.failed = c.Waiting
			}
			if c.Running && c.Ready && h.pod.Ready && !h.pod.Deleting && id != s.forbidden {
				s, expected = stage{}, id
			}
		}
		if !s.open && expected != "" && id != expected {
			v.Restarts++
			expected = id
		}
		wasReady = wasReady || h.pod.Ready
	}
	last := history[len(history)-1].pod
	if s.open && s.failed == "" && now >= s.since+noderoll.UpdateDeadline {
		s.failed = "DeadlineExceeded"
	}
	v.Namespace, v.Name, v.UID, v.Node, v.Ready = "shop", last.Name, last.UID, "n1", last.Ready
	v.Configuration = last.Containers[0].Image
	v.OnTarget = v.Configuration == imageB
	switch {
	case last.Deleting:
		v.Phase = noderoll.PodTerminating
	case s.open && s.failed != "":
		v.Phase, v.Reason = noderoll.PodFailed, s.failed
	case s.open:
		v.Phase = noderoll.PodUpdating
	case last.Ready && v.Restarts > 0:
		v.Phase = noderoll.PodRestarted
	case last.Ready:
		v.Phase = noderoll.PodReady
	case wasReady:
		v.Phase, v.Reason = noderoll.PodNotReady, last.Containers[0].Waiting
	default:
		v.Phase, v.Reason = noderoll.PodStarting, last.Containers[0].Waiting
	}
	return v
}

func (w *naivePodRoll) views(now time.Duration) []noderoll.PodView {
	out := []noderoll.PodView{}
	for _, h := range w.history {
		out = append(out, w.view(h, now))
	}
	slices.SortFunc(out, func(a, b noderoll.PodView) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// What is kept up to date change by change equals what its twin finds in the whole
// history; and the feed obeys its rules.
func TestPodRollEqualsNaivePodRoll(t *testing.T) {
	phases := map[noderoll.PodPhase]int{}
	for seed := range uint64(150) {
		f := podFeed(t, noderoll.FeedOptions{Verbose: true, StateOptions: noderoll.StateOptions{Target: noderoll.Target{Image: imageB}}})
		w := &naivePodRoll{history: map[string][]podChange{}}
		var checker noderoll.EntryChecker
		for _, c := range randomPods(rand.New(rand.NewPCG(seed, 7)), 150) {
			for _, e := range c.feed(f) {
				if err := checker.Check(e); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			w.apply(c)
			got := f.Snapshot(epoch.Add(c.at))
			if err := got.Check(); err != nil {
				t.Fatalf("seed %d at %s: %v", seed, c.at, err)
			}
			for i := range got.Pods {
				phases[got.Pods[i].Phase]++
				if got.Pods[i].Phase == noderoll.PodUpdating {
					got.Pods[i].Reason = "" // Rollback depends on what all pods do
				}
			}
			if d := cmp.Diff(w.views(c.at), got.Pods); d != "" {
				t.Fatalf("seed %d at %s, after %+v: (-twin +got):\n%s", seed, c.at, c.pod, d)
			}
		}
	}
	for _, p := range []noderoll.PodPhase{noderoll.PodStarting, noderoll.PodReady, noderoll.PodUpdating, noderoll.PodFailed, noderoll.PodRestarted, noderoll.PodNotReady, noderoll.PodTerminating} {
		if phases[p] < 100 {
			t.Errorf("phase %s was seen %d times: too few to prove anything", p, phases[p])
		}
	}
}

// However time is advanced between the changes, the entries are the same.
func TestPodFeedIsTheSameHoweverTimePasses(t *testing.T) {
	late := 0
	for seed := range uint64(60) {
		changes := randomPods(rand.New(rand.NewPCG(seed, 8)), 100)
		play := func(step time.Duration) (out []noderoll.Entry) {
			f := podFeed(t, noderoll.FeedOptions{UpdateDeadline: 2 * time.Minute})
			for _, c := range changes {
				for at := f.At() + step; step > 0 && at < c.at; at += step {
					out = append(out, f.Advance(at)...)
				}
				out = append(out, c.feed(f)...)
			}
			return out
		}
		want := play(0)
		for _, e := range want {
			if e.Reason == "DeadlineExceeded" {
				late++
			}
		}
		for _, step := range []time.Duration{time.Second, 17 * time.Second, time.Minute} {
			if d := cmp.Diff(want, play(step)); d != "" {
				t.Fatalf("seed %d, every %s (-want +got):\n%s", seed, step, d)
			}
		}
	}
	if late < 30 {
		t.Errorf("%d updates were late: too few to prove anything", late)
	}
}
