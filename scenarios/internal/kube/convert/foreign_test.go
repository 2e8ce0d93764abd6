package convert_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What others wrote goes out to the second as it came in, at any speed, and when the
// pace has changed meanwhile: the scheduler's transition time passes through a kubelet.
func TestForeignTimesComeBack(t *testing.T) {
	for _, speed := range []float64{1, 8, 20, 60, 0.5} {
		shift := time.Duration(0)
		lag := time.Duration(0) // of the scenario's time
		c := convert.Clock{Scenario: kube.InstantOf(start), Wall: start, Speed: speed, Foreign: convert.NewForeignTimes()}
		c.Paced = func(since time.Duration) time.Time {
			return start.Add(shift + time.Duration(float64(since)/speed))
		}
		now := start
		c.Latest = func() (kube.Instant, time.Time) {
			return c.Scenario.Add(time.Duration(float64(now.Sub(start)-shift-lag) * speed)), now
		}
		n := node()
		var ts convert.Templates
		for i := range 50 {
			now = start.Add(time.Duration(i) * 1100 * time.Millisecond)
			lag = time.Duration(i%7) * 300 * time.Millisecond
			wrote := metav1.NewTime(now.Truncate(time.Second))
			in, err := convert.NodeToAPI(n, c)
			if err != nil {
				t.Fatal(err)
			}
			in.Status.Conditions[0].LastTransitionTime, in.Spec.Taints[1].TimeAdded = wrote, &wrote
			convert.NodeFromAPI(n, in, c, false)
			p := pod()
			seen, err := convert.PodToAPI(p, c)
			if err != nil {
				t.Fatal(err)
			}
			seen.Status.Conditions[1].LastTransitionTime, seen.Status.StartTime = wrote, &wrote
			ts.PodFromAPI(p, seen, c, true)
			if i == 25 {
				shift = 1700 * time.Millisecond // the machine slept
			}
			out, err := convert.NodeToAPI(n, c)
			if err != nil {
				t.Fatal(err)
			}
			posted := convert.PodStatus(p, c)
			for what, got := range map[string]metav1.Time{
				"a node's condition": out.Status.Conditions[0].LastTransitionTime, "a taint": *out.Spec.Taints[1].TimeAdded,
				"a pod's condition": posted.Conditions[1].LastTransitionTime, "a pod's start": *posted.StartTime,
			} {
				if !got.Equal(&wrote) {
					t.Errorf("speed %v, change %d: %s was written at %s and goes out as %s", speed, i, what, wrote.Format("05.000"), got.Format("05.000"))
				}
			}
		}
	}
}

// A pod's end is announced before it comes. The pace may lose time until then, because the machine stood still: what is
// written in the second of that end, like another pod's start, isn't in the scenario's future.
func TestForeignTimesAreNotInTheFuture(t *testing.T) {
	const speed = 8
	now, lag := start.Add(10*time.Second), time.Duration(0)
	c := convert.Clock{Scenario: kube.InstantOf(start), Wall: start, Speed: speed, Foreign: convert.NewForeignTimes()}
	c.Paced = func(since time.Duration) time.Time {
		return start.Add(lag + time.Duration(float64(since)/speed))
	}
	c.Latest = func() (kube.Instant, time.Time) {
		return c.Scenario.Add(time.Duration(float64(now.Sub(start)-lag) * speed)), now
	}
	var ts convert.Templates
	read := func(p *kube.Pod, change func(*corev1.Pod)) {
		t.Helper()
		seen, err := convert.PodToAPI(p, c)
		if err != nil {
			t.Fatal(err)
		}
		change(seen)
		ts.PodFromAPI(p, seen, c, true)
	}

	end := metav1.NewTime(now.Add(30 * time.Second))
	ending := pod()
	read(ending, func(p *corev1.Pod) { p.DeletionTimestamp = &end })
	announced := ending.Deleting
	if latest, _ := c.Latest(); announced <= latest {
		t.Fatalf("the end is at %v: want it after %v", announced, latest)
	}

	now, lag = end.Add(time.Second), 7*time.Second
	latest, _ := c.Latest()
	starting := pod()
	read(starting, func(p *corev1.Pod) { p.CreationTimestamp, p.Status.StartTime = end, &end })
	if starting.Created > latest || starting.Started > latest {
		t.Errorf("the pod is of %v and starts at %v: want neither after %v", starting.Created, starting.Started, latest)
	}
	out, err := convert.PodToAPI(starting, c)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Status.StartTime; !got.Equal(&end) {
		t.Errorf("the start was written at %s and goes out as %s", end.Format("05"), got.Format("05"))
	}
}
