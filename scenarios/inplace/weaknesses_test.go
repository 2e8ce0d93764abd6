package inplace_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

func apply(t *testing.T, pod *corev1.Pod, opts inplace.UpdateOptions) *corev1.Pod {
	t.Helper()
	next, changed, err := podupdate.Keys{}.Apply(pod, opts, t0)
	if err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	next.Generation++
	return next
}

func images(image string) inplace.UpdateOptions {
	return inplace.UpdateOptions{ContainerImages: map[string]string{"app": image}}
}

func TestAnEqualDigestIsNoProofOfAReplacement(t *testing.T) {
	digest := imageresolver.Digests{Manifest: fakekubelet.Digest("app:1")}
	digests := imageresolver.Record(map[string]imageresolver.Digests{"app:1": digest, "mirror/app:1": digest})
	pod := fakekubelet.Observe(apply(t, aPod("running", "app:1"), images("mirror/app:1")))
	if p, _ := (podupdate.Keys{}).Progress(pod, digests, 0, t0); p.Reason != podupdate.ReasonOldContainer {
		t.Errorf("before the kubelet: %v", p)
	}
	if inplace.IsInplaceUpdateCompleted(t.Context(), nil, pod, digests) {
		t.Error("complete before the container was replaced")
	}
	fakekubelet.Start(pod, "app")
	fakekubelet.Status(pod, "app").ImageID = fakekubelet.ImageID("app:1")
	if p, _ := (podupdate.Keys{}).Progress(pod, digests, 0, t0); p.Reason != podupdate.ReasonNotReady {
		t.Errorf("started: %v", p)
	}
	fakekubelet.Status(pod, "app").Ready = true
	if p, _ := (podupdate.Keys{}).Progress(pod, digests, 0, t0); p.State != podupdate.Done {
		t.Errorf("ready: %v", p)
	}
}

func TestProgressSaysWhatItWaitsFor(t *testing.T) {
	started := func() *corev1.Pod { return apply(t, aPod("idle", "app:1"), images("app:2")) }
	deleted := started()
	now := ago(0)
	deleted.DeletionTimestamp = &now
	ended := started()
	ended.Status.Phase = corev1.PodFailed
	other := started()
	other.Spec.Containers[0].Image = "app:3"
	exited := fakekubelet.Start(started(), "app")
	fakekubelet.Status(exited, "app").State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}
	old := fakekubelet.Start(started(), "app")
	fakekubelet.Status(old, "app").Image, fakekubelet.Status(old, "app").ImageID = "app:1", fakekubelet.ImageID("app:1")
	for _, c := range []struct {
		pod    *corev1.Pod
		state  podupdate.Outcome
		reason string
	}{
		{aPod("idle", "app:1"), podupdate.None, ""},
		{started(), podupdate.InProgress, podupdate.ReasonNotObserved},
		{fakekubelet.Observe(started()), podupdate.InProgress, podupdate.ReasonOldContainer},
		{fakekubelet.Kill(started(), "app"), podupdate.InProgress, "ContainerCreating"},
		{fakekubelet.Wait(started(), "app", "ImagePullBackOff", "no such tag"), podupdate.InProgress, "ImagePullBackOff"},
		{fakekubelet.Wait(started(), "app", "CrashLoopBackOff", ""), podupdate.InProgress, "CrashLoopBackOff"},
		{fakekubelet.Wait(started(), "app", "InvalidImageName", ""), podupdate.Failed, "InvalidImageName"},
		{exited, podupdate.InProgress, "OOMKilled"},
		{old, podupdate.InProgress, podupdate.ReasonOldImage},
		{fakekubelet.Start(started(), "app"), podupdate.InProgress, podupdate.ReasonNotReady},
		{other, podupdate.InProgress, podupdate.ReasonSpecDiffers},
		{deleted, podupdate.Failed, podupdate.ReasonPodDeleting},
		{ended, podupdate.Failed, podupdate.ReasonPodEnded},
		{fakekubelet.Settle(started()), podupdate.Done, ""},
	} {
		p, err := podupdate.Keys{}.Progress(c.pod, nil, time.Minute, t0)
		if err != nil || p.State != c.state || p.Reason != c.reason {
			t.Errorf("%v, %v: want %s %s", p, err, c.state, c.reason)
		}
	}
	stuck := fakekubelet.Wait(started(), "app", "ImagePullBackOff", "no such\ntag")
	if p, _ := (podupdate.Keys{}).Progress(stuck, nil, time.Minute, t0.Add(time.Minute)); p.State != podupdate.InProgress {
		t.Errorf("at the deadline: %v", p)
	}
	p, _ := podupdate.Keys{}.Progress(stuck, nil, time.Minute, t0.Add(61*time.Second))
	if got, want := p.String(), "Failed DeadlineExceeded (app): ImagePullBackOff after 1m1s of 1m0s: no such tag"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestABrokenStateIsAnErrorEverywhere(t *testing.T) {
	for _, text := range []string{`{"phase":`, `{"phase":"asleep"}`, `null`, `[]`} {
		pod := withAnnotation(aPod("starting", "app:1"), text)
		var k podupdate.Keys
		_, _, applied := k.Apply(pod, images("app:2"), t0)
		_, progress := k.Progress(pod, nil, 0, t0)
		_, _, completed := k.Complete(pod, t0)
		_, _, rolled := k.Rollback(pod, t0)
		complete, reason, err := k.Completion(t.Context(), pod, nil)
		for _, err := range []error{applied, progress, completed, rolled, err} {
			wantError(t, err, podupdate.ErrBrokenState)
		}
		if complete || reason != podupdate.ReasonBrokenState {
			t.Errorf("%s: complete %v, %s", text, complete, reason)
		}
	}
}

func TestWithoutAResolverTheContainerDecides(t *testing.T) {
	pod := apply(t, aPod("idle", "app:1"), images("app:2"))
	if complete, reason, err := (podupdate.Keys{}).Completion(t.Context(), fakekubelet.Observe(pod), nil); complete || reason != podupdate.ReasonOldContainer || err != nil {
		t.Error(complete, reason, err)
	}
	if complete, _, err := (podupdate.Keys{}).Completion(t.Context(), fakekubelet.Settle(pod), nil); !complete || err != nil {
		t.Error(complete, err)
	}
}

func TestAResolverThatFailsIsAnError(t *testing.T) {
	pod := fakekubelet.Settle(apply(t, aPod("idle", "app:1"), images("app:2")))
	complete, reason, err := podupdate.Keys{}.Completion(t.Context(), pod, registry{})
	if complete || reason != podupdate.ReasonDigestUnknown || err == nil || errors.Is(err, context.Canceled) {
		t.Error(complete, reason, err)
	}
	got, err := inplace.MarkUpdateCompleted(t.Context(), server(pod), nil, pod, registry{})
	if got != nil || err == nil {
		t.Error(got, err)
	}
}

func TestAStopWithUnchangedImagesCleansUp(t *testing.T) {
	var k podupdate.Keys
	running, _, err := k.Complete(fakekubelet.Settle(apply(t, aPod("idle", "app:1"), inplace.UpdateOptions{
		ContainerImages: map[string]string{"app": "app:2"}, Labels: map[string]string{prefix + "sandbox-id": "s"},
		Annotations: map[string]string{prefix + "sandbox-id": "s", prefix + "claimed-at": "then"},
	})), t0)
	if err != nil {
		t.Fatal(err)
	}
	idle := apply(t, running, inplace.UpdateOptions{
		ContainerImages: map[string]string{"app": "app:2"}, UpdatePodPhase: "stopping", TargetPodPhase: "idle",
		Annotations: map[string]string{prefix + "stop-reason": "Stopped"},
	})
	s := state(t, idle)
	if idle.Labels[phaseLabel] != "idle" || idle.Labels[prefix+"sandbox-id"] != "" || idle.Annotations[prefix+"claimed-at"] != "" ||
		idle.Annotations[prefix+"stop-reason"] != "" || s.StableContainerStatuses != nil || s.TargetPodPhase != "idle" {
		t.Errorf("%v %v %+v", idle.Labels, idle.Annotations, s)
	}
	if _, is := k.UnexpectedRestart(fakekubelet.Start(idle, "app")); is {
		t.Error("an idle pod's restart is nobody's")
	}
}

func TestTheEmptyPhaseIsStartingInTheShortcutToo(t *testing.T) {
	if got := apply(t, aPod("idle", "app:1"), images("app:1")); got.Labels[phaseLabel] != "running" {
		t.Error(got.Labels)
	}
	since, in, err := inplace.GetPodPhaseSince(aPod("bogus", "app:1"), "idle")
	if err != nil || !in || !since.Equal(t0.Add(-10*time.Minute)) {
		t.Error("an unknown label is idle for every function:", since, in, err)
	}
}

func TestEveryMistakeIsFoundBeforeAnyChange(t *testing.T) {
	pod := aPod("idle", "app:1", "side:1")
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "a"}}}
	opts := inplace.UpdateOptions{ContainerImages: map[string]string{"zoo": "z:1", "side": "", "app": "app:2", "debug": "b"}}
	want := `update pod shop/box-1: container "debug": ephemeral container can't be changed: add another one; ` +
		`container "side": target image is required; container "zoo": container not found in pod`
	for range 20 {
		next, _, err := podupdate.Keys{}.Apply(pod, opts, t0)
		if next != nil || err == nil || err.Error() != want {
			t.Fatalf("%v\nwant %s", err, want)
		}
		for _, is := range []error{podupdate.ErrEphemeralContainer, inplace.ErrTargetImageIsRequired, inplace.ErrContainerNotFound} {
			wantError(t, err, is)
		}
	}
	_, _, err := podupdate.Keys{}.Apply(aPod("idle"), images("app:2"), t0)
	wantError(t, err, inplace.ErrNoContainers)
}

func TestOneRuleForImages(t *testing.T) {
	pod := aPod("idle", "nginx:1.28", "side:1")
	next := apply(t, pod, inplace.UpdateOptions{ContainerImages: map[string]string{"app": "docker.io/library/nginx:1.28", "side": "side:2"}})
	if next.Spec.Containers[0].Image != "nginx:1.28" || len(state(t, next).TargetImages) != 1 {
		t.Error("a container of the same image is left alone:", next.Spec.Containers[0].Image, state(t, next))
	}
}

func TestFractionsOfASecondAreKept(t *testing.T) {
	at := t0.Add(1234567 * time.Microsecond)
	next, _, err := podupdate.Keys{}.Apply(aPod("idle", "app:1"), images("app:2"), at)
	if err != nil {
		t.Fatal(err)
	}
	if since, _, _ := inplace.GetPodPhaseSince(next, ""); !since.Equal(at) {
		t.Errorf("since %s: want %s", since, at)
	}
	if s := state(t, next); !s.UpdateTimestamp.Time.Equal(t0.Add(time.Second)) {
		t.Error(s.UpdateTimestamp)
	}
	whole := apply(t, aPod("idle", "app:1"), images("app:2"))
	if strings.Contains(whole.Annotations[stateKey], "updateTime\"") {
		t.Error(whole.Annotations[stateKey])
	}
}

func TestInitContainers(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := aPod("running", "app:1")
	pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup:1"}, {Name: "proxy", Image: "proxy:1", RestartPolicy: &always}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "setup", Image: "setup:1", ContainerID: "s-1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
		{Name: "proxy", Image: "proxy:1", ContainerID: "p-1", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}
	next := fakekubelet.Observe(apply(t, pod, inplace.UpdateOptions{ContainerImages: map[string]string{"setup": "setup:2", "proxy": "proxy:2"}}))
	if next.Spec.InitContainers[0].Image != "setup:2" || next.Spec.InitContainers[1].Image != "proxy:2" {
		t.Fatal(next.Spec.InitContainers)
	}
	var k podupdate.Keys
	if p, _ := k.Progress(next, nil, 0, t0); p.Container != "proxy" || p.Reason != podupdate.ReasonOldContainer {
		t.Errorf("the sidecar is awaited, the one that has ended is not: %v", p)
	}
	s := &next.Status.InitContainerStatuses[1]
	s.Image, s.ImageID, s.ContainerID = "proxy:2", fakekubelet.ImageID("proxy:2"), "p-2"
	done, _, err := k.Complete(next, t0)
	if p, _ := k.Progress(next, nil, 0, t0); p.State != podupdate.Done || err != nil {
		t.Fatal(p, err)
	}
	done.Status.InitContainerStatuses[0].ContainerID = "s-2"
	if name, is := k.UnexpectedRestart(done); is {
		t.Errorf("%s is no sidecar", name)
	}
	done.Status.InitContainerStatuses[1].ContainerID = "p-3"
	if name, is := k.UnexpectedRestart(done); !is || name != "proxy" {
		t.Errorf("found %q, %v", name, is)
	}
}

func TestOtherKeys(t *testing.T) {
	k := podupdate.Keys{Prefix: "example.org", Phase: "example.org/phase"}
	next, _, err := k.Apply(aPod("", "app:1"), images("app:2"), t0)
	if err != nil {
		t.Fatal(err)
	}
	if next.Labels["example.org/phase"] != "starting" || next.Annotations["example.org/inplace-update-state"] == "" {
		t.Error(next.Labels, next.Annotations)
	}
	for key := range next.Annotations {
		if strings.HasPrefix(key, prefix) {
			t.Error(key)
		}
	}
}

// An update that was set back by hand is no longer awaited once somebody asks for the old image; what an update that has failed
// had set, and somebody has changed since, is left alone when the rest is tried again.
func TestWhatSomebodyElseHasSet(t *testing.T) {
	both := inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2", "side": "side:2"}}
	pod := apply(t, aPod("idle", "app:1", "side:1"), both)
	pod.Spec.Containers[0].Image = "app:1"
	back := apply(t, pod, images("app:1"))
	if s := state(t, back); s.TargetImages["app"] != "app:1" || back.Spec.Containers[0].Image != "app:1" {
		t.Errorf("found %v and the image %s, want app:1 awaited", s.TargetImages, back.Spec.Containers[0].Image)
	}
	failed := state(t, apply(t, aPod("idle", "app:1", "side:1"), both))
	failed.Phase = podupdate.InplaceUpdatePhaseFailed
	pod = withState(t, apply(t, aPod("idle", "app:1", "side:1"), both), *failed)
	pod.Spec.Containers[1].Image = "side:1"
	again := apply(t, pod, images("app:2"))
	if s := state(t, again); len(s.TargetImages) != 1 || len(s.LastContainerStatuses) != 1 || again.Spec.Containers[1].Image != "side:1" {
		t.Errorf("found %v, %v and the image %s, want side left alone", s.TargetImages, s.LastContainerStatuses, again.Spec.Containers[1].Image)
	}
}

// A phase that follows another without another image begins then, and not with the first one.
func TestAStopInTheMiddleOfAStart(t *testing.T) {
	pod := apply(t, aPod("idle", "app:1"), images("app:2"))
	opts := images("app:2")
	opts.UpdatePodPhase, opts.TargetPodPhase = podupdate.InplaceUpdatePhaseStopping, podupdate.SandboxPhaseIdle
	next, _, err := podupdate.Keys{}.Apply(pod, opts, t0.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if since, in, err := inplace.GetPodPhaseSince(next, "stopping"); err != nil || !in || !since.Equal(t0.Add(time.Minute)) {
		t.Errorf("stopping since %s, %t, %v, want a minute after the start", since, in, err)
	}
}

// A repeated request for the image that a restarted container has takes the container as it is.
func TestARepeatedUpdateTakesTheContainersAnew(t *testing.T) {
	opts := images("app:1")
	opts.TargetPodPhase = podupdate.SandboxPhaseRunning
	pod := apply(t, aPod("idle", "app:1"), opts)
	if _, changed, err := (podupdate.Keys{}).Apply(pod, opts, t0.Add(time.Minute)); changed || err != nil {
		t.Errorf("a second time: changed %t, %v", changed, err)
	}
	fakekubelet.Status(pod, "app").ContainerID = "another"
	if !inplace.HasUnexpectedRestart(pod) {
		t.Fatal("the restart isn't seen")
	}
	if pod = apply(t, pod, opts); inplace.HasUnexpectedRestart(pod) {
		t.Error("the restart is still unexpected")
	}
}
