package noderoll_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// told joins entries as "kind pod reason".
func told(es []noderoll.Entry) string {
	var out []string
	for _, e := range es {
		out = append(out, strings.Join(strings.Fields(fmt.Sprint(e.Kind, " ", strings.TrimPrefix(e.Object, "Pod/shop/"), " ", e.Reason)), " "))
	}
	return strings.Join(out, ", ")
}

func wantTold(t *testing.T, what string, got []noderoll.Entry, want string) {
	t.Helper()
	if s := told(got); s != want {
		t.Errorf("%s: got %q, want %q", what, s, want)
	}
}

func waits(p noderoll.Instance, reason string) noderoll.Instance {
	p.Ready = false
	p.Containers = []noderoll.Container{p.Containers[0]}
	c := &p.Containers[0]
	c.Running, c.Ready, c.Waiting = false, false, reason
	return p
}

// The status that a rollback finds is still that of the update: it says nothing of
// the rollback.
func TestRollbackIsNotStuckOnWhatWas(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{}, webPod("a", imageA, "1"), webPod("b", imageA, "1"))
	wantTold(t, "trigger", f.SetInstance(1, webPod("a", imageB, "1")), "updating a")
	wantTold(t, "stuck", f.SetInstance(2, waits(webPod("a", imageB, "1"), "ImagePullBackOff")), "failed a ImagePullBackOff")
	wantTold(t, "back", f.SetInstance(3, waits(webPod("a", imageA, "1"), "ImagePullBackOff")), "updating a Rollback")
	wantTold(t, "no news", f.SetInstance(4, waits(webPod("a", imageA, "1"), "ImagePullBackOff")), "")
	wantTold(t, "there", f.SetInstance(5, webPod("a", imageA, "2")), "rolledback a")
	s := f.Snapshot(epoch)
	if s.PodTarget != imageB || s.PodCounts.OffTarget != 2 || s.PodCounts.Waiting != 2 {
		t.Errorf("the target is %s, %+v: want %s, and both pods waiting", s.PodTarget, s.PodCounts, imageB)
	}
}

// Back before the kubelet has done anything: the container that runs will do.
func TestRollbackBeforeTheContainerWasReplaced(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{}, webPod("a", imageA, "1"))
	f.SetInstance(1, webPod("a", imageB, "1"))
	wantTold(t, "back", f.SetInstance(2, webPod("a", imageA, "1")), "updating a Rollback, rolledback a")
}

// Over at once, a roll back to the images of before is a roll of its own.
func TestBackAfterCompletionIsARoll(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{}, webPod("a", imageA, "1"))
	f.SetInstance(1, webPod("a", imageB, "1"))
	wantTold(t, "there", f.SetInstance(2, webPod("a", imageB, "2")), "updated a, complete")
	wantTold(t, "back", f.SetInstance(3, webPod("a", imageA, "2")), "updating a")
	wantTold(t, "back there", f.SetInstance(4, webPod("a", imageA, "3")), "updated a, complete")
}

func TestUpdateDeadline(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{UpdateDeadline: time.Minute}, webPod("a", imageA, "1"), webPod("b", imageA, "1"))
	f.SetInstance(time.Second, webPod("a", imageB, "1"))
	if at, ok := f.NextDeadline(); !ok || at != 61*time.Second {
		t.Errorf("the next deadline is %s, %v: want 1m1s", at, ok)
	}
	late := f.Advance(2 * time.Minute)
	wantTold(t, "late", late, "failed a DeadlineExceeded")
	if late[0].At != 61*time.Second || f.Snapshot(epoch).PodCounts.Failed != 1 {
		t.Errorf("it failed at %s, %+v", late[0].At, f.Snapshot(epoch).PodCounts)
	}
	wantTold(t, "done after all", f.SetInstance(3*time.Minute, webPod("a", imageB, "2")), "updated a")
	if _, ok := f.NextDeadline(); ok {
		t.Error("a deadline is left")
	}
}

// What a list has found again comes out at its end, by pod, the roll's end last.
func TestPodGap(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{}, webPod("a", imageA, "1"), webPod("b", imageA, "1"), webPod("c", imageA, "1"))
	f.Gap(1, noderoll.Pods, "410 Expired")
	wantTold(t, "in the gap", f.SetInstance(2, webPod("b", imageB, "2")), "")
	wantTold(t, "in the gap", f.SetInstance(2, webPod("a", imageB, "2")), "")
	wantTold(t, "in the gap", f.DeletePod(2, "shop", "c", ""), "")
	wantTold(t, "after it", f.Synced(3, noderoll.Pods), "updating a, updated a, updating b, updated b, terminated c, complete")
}

// A first look into the middle of an update.
func TestFirstLookAtAnUpdate(t *testing.T) {
	noted := webPod("a", imageB, "1")
	noted.Annotations = map[string]string{noderoll.DefaultStateAnnotation: `{"phase":"starting","targetImages":{"web":"` + imageB + `"},
		"updateTimestamp":"2026-11-20T22:00:00Z","lastContainerStatuses":{"web":{"containerID":"1"}}}`}
	behind := webPod("b", imageB, "1")
	behind.Behind, behind.Containers[0].StatusImage = true, imageA
	renamed := webPod("c", "nginx", "1")
	renamed.Containers[0].StatusImage = "docker.io/library/nginx:latest"
	broken := webPod("d", imageA, "1")
	broken.Annotations = map[string]string{noderoll.DefaultStateAnnotation: `{"phase":`}
	f := podFeed(t, noderoll.FeedOptions{}, noted, behind, renamed, broken)
	for i, want := range []noderoll.PodPhase{noderoll.PodUpdating, noderoll.PodUpdating, noderoll.PodReady, noderoll.PodReady} {
		if v := f.Snapshot(epoch).Pods[i]; v.Phase != want {
			t.Errorf("%s is %s: want %s", v.Name, v.Phase, want)
		}
	}
	if target := f.Snapshot(epoch).PodTarget; target != imageB {
		t.Errorf("the target is %s: want %s, which the updater has noted", target, imageB)
	}
	done := webPod("a", imageB, "2")
	done.Annotations = noted.Annotations
	wantTold(t, "noted", f.SetInstance(1, done), "updated a")
	wantTold(t, "behind", f.SetInstance(2, webPod("b", imageB, "2")), "updated b")
}

// Two containers are updated together, and a restart of the third belongs to no update.
func TestUpdateOfTwoContainers(t *testing.T) {
	pod := func(web, log, ids string) noderoll.Instance {
		p := webPod("a", web, "w"+ids[:1])
		for i, c := range []struct{ name, image string }{{"log", log}, {"mesh", "mesh:1"}} {
			p.Containers = append(p.Containers, noderoll.Container{Name: c.name, Image: c.image, ID: c.name + ids[i+1:i+2], Running: true, Ready: true})
		}
		return p
	}
	f := podFeed(t, noderoll.FeedOptions{}, pod(imageA, "log:1", "111"))
	got := f.SetInstance(1, pod(imageB, "log:2", "111"))
	wantTold(t, "trigger", got, "updating a")
	if want := "web " + imageA + " to " + imageB + ", log log:1 to log:2"; got[0].Message != want {
		t.Errorf("it says %q: want %q", got[0].Message, want)
	}
	wantTold(t, "one of them", f.SetInstance(2, pod(imageB, "log:2", "211")), "")
	wantTold(t, "mesh restarts", f.SetInstance(3, pod(imageB, "log:2", "212")), "")
	wantTold(t, "both", f.SetInstance(4, pod(imageB, "log:2", "222")), "updated a, complete")
	wantTold(t, "mesh restarts", f.SetInstance(5, pod(imageB, "log:2", "223")), "")
	wantTold(t, "log restarts", f.SetInstance(6, pod(imageB, "log:2", "233")), "restarted a")
	if v := f.Snapshot(epoch).Pods[0]; v.Configuration != "log=log:2, web="+imageB {
		t.Errorf("the configuration is %s", v.Configuration)
	}
}

func TestResizeThatNeverFits(t *testing.T) {
	small, large := noderoll.Resources{CPURequest: 200}, noderoll.Resources{CPURequest: 32000, CPULimit: 64000}
	pod := func(want, has noderoll.Resources, why string) noderoll.Instance {
		p := webPod("a", imageA, "1")
		p.Resize = why
		p.Containers[0].Resources, p.Containers[0].Actual, p.Containers[0].ActualKnown = want, has, true
		return p
	}
	f := podFeed(t, noderoll.FeedOptions{}, pod(small, small, ""), webPod("b", imageA, "1"))
	got := f.SetInstance(1, pod(large, small, ""))
	wantTold(t, "trigger", got, "resizing a")
	if want := "cpu=200m to cpu=32,limits.cpu=64"; got[0].Message != want {
		t.Errorf("it says %q: want %q", got[0].Message, want)
	}
	wantTold(t, "never", f.SetInstance(2, pod(large, small, "Infeasible")), "infeasible a")
	wantTold(t, "still", f.SetInstance(3, pod(large, small, "Infeasible")), "")
	wantTold(t, "back", f.SetInstance(4, pod(small, small, "Infeasible")), "resizing a Rollback")
	wantTold(t, "done", f.SetInstance(5, pod(small, small, "")), "rolledback a")
}

// Pods come and go; one that has ended is none, and another label doesn't make one.
func TestPodsComeAndGo(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{}, webPod("a", imageA, "1"))
	foreign := webPod("x", imageA, "1")
	foreign.Labels = map[string]string{"app": "db"}
	wantTold(t, "another app", f.SetInstance(1, foreign), "")
	elsewhere := webPod("y", imageA, "1")
	elsewhere.Namespace = "other"
	wantTold(t, "another namespace", f.SetInstance(1, elsewhere), "")
	wantTold(t, "new", f.SetInstance(2, waits(webPod("b", imageA, ""), "ContainerCreating")), "joining b")
	wantTold(t, "ready", f.SetInstance(3, webPod("b", imageA, "1")), "online b")
	again := webPod("b", imageA, "1")
	again.UID = "another"
	wantTold(t, "of the same name", f.SetInstance(4, again), "terminated b, online b")
	again.Labels = nil
	wantTold(t, "labels change", f.SetInstance(5, waits(again, "")), "notready b")
	again.Phase = "Failed"
	wantTold(t, "evicted", f.SetInstance(6, again), "terminated b")
	wantTold(t, "an old deletion", f.DeletePod(7, "shop", "a", "another"), "")
	wantTold(t, "gone", f.DeletePod(8, "shop", "a", "u-a"), "terminated a")
	if s := f.Snapshot(epoch); len(s.Pods) != 0 || s.PodCounts != (noderoll.PodCounts{}) {
		t.Errorf("left are %+v", s.Pods)
	}
}

// Nodes have no say in a roll of pods, and pods none in one of nodes.
func TestOneKindOfRoll(t *testing.T) {
	f := podFeed(t, noderoll.FeedOptions{Verbose: true}, webPod("a", imageA, "1"))
	n := feedNode("n1", oldImage)
	n.Ready = "True"
	n.Pressure = 3
	wantTold(t, "a node", f.SetNode(1, n), "")
	n.Unschedulable, n.Ready = true, "False"
	wantTold(t, "and its drain", f.SetNode(2, n), "")
	wantTold(t, "the mark", f.Mark(3, noderoll.MarkFailed, "why"), "failed")

	f = noderoll.NewFeed(noderoll.FeedOptions{Verbose: true})
	f.Synced(0, noderoll.Pods)
	f.SetInstance(1, webPod("a", imageA, "1"))
	wantTold(t, "of nodes", f.SetInstance(2, webPod("a", imageB, "2")), "")
	if s := f.Snapshot(epoch); s.Pods != nil {
		t.Errorf("a roll of nodes shows pods: %+v", s.Pods)
	}
}
