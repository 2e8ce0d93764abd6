package inplace_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

func TestARollbackOfWhatTheKubeletNeverSaw(t *testing.T) {
	var k podupdate.Keys
	pod := apply(t, aPod("running", "app:1"), images("app:2"))
	back, changed, err := k.RollbackFor(pod, podupdate.Progress{Reason: podupdate.ReasonDeadlineExceeded, Message: "why"}, "", t0.Add(time.Minute))
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	back.Generation++
	s, err := k.Read(back)
	if err != nil || s.Reason != podupdate.ReasonDeadlineExceeded || s.RolledBack["app"] != "app:2" || s.Phase != "starting" || s.TargetPodPhase != "running" {
		t.Fatalf("%+v, %v", s, err)
	}
	if p, _ := k.Progress(back, nil, 0, t0); p.Reason != podupdate.ReasonNotObserved {
		t.Error("the kubelet may be at the other image still:", p)
	}
	if p, _ := k.Progress(fakekubelet.Observe(back), nil, 0, t0); p.State != podupdate.Done {
		t.Error("the container was never replaced:", p)
	}
}

func TestARollbackOfABadImage(t *testing.T) {
	var k podupdate.Keys
	pod := fakekubelet.Wait(apply(t, aPod("idle", "app:1"), images("app:none")), "app", "ImagePullBackOff", "")
	back, _, err := k.Rollback(pod, t0)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := k.Progress(back, nil, 0, t0); p.Reason != "ImagePullBackOff" {
		t.Error(p)
	}
	if p, _ := k.Progress(fakekubelet.Settle(back), nil, 0, t0); p.State != podupdate.Done || back.Labels[phaseLabel] != "stopping" {
		t.Error(p, back.Labels)
	}
	_, _, err = k.Rollback(aPod("idle", "app:1"), t0)
	wantError(t, err, podupdate.ErrNothingToRollBack)
}

func TestARollbackLeavesOthersChangesAlone(t *testing.T) {
	pod := apply(t, aPod("running", "app:1", "side:1"), inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2", "side": "side:2"}})
	pod.Spec.Containers[1].Image = "side:hotfix"
	back, _, err := podupdate.Keys{}.Rollback(pod, t0)
	if err != nil || back.Spec.Containers[0].Image != "app:1" || back.Spec.Containers[1].Image != "side:hotfix" {
		t.Error(back, err)
	}
}

func TestAFailedUpdateCanBeTriedAgain(t *testing.T) {
	var k podupdate.Keys
	pod := fakekubelet.Wait(apply(t, aPod("running", "app:1"), images("app:2")), "app", "CrashLoopBackOff", "")
	failed, changed, err := k.Fail(pod, podupdate.Progress{Reason: "CrashLoopBackOff"}, t0)
	if err != nil || !changed || inplace.GetSandboxPhase(failed) != "failed" {
		t.Fatal(failed, changed, err)
	}
	if p, _ := k.Progress(failed, nil, 0, t0); p.State != podupdate.Failed || p.Reason != "CrashLoopBackOff" {
		t.Error(p)
	}
	again, changed, err := k.Apply(failed, images("app:2"), t0.Add(time.Minute))
	if err != nil || !changed || inplace.GetSandboxPhase(again) != "starting" {
		t.Fatal(again, changed, err)
	}
	if p, _ := k.Progress(again, nil, 0, t0); p.Reason != "CrashLoopBackOff" || p.State != podupdate.InProgress {
		t.Error("a crash looping container isn't declared running:", p)
	}
	if p, _ := k.Progress(fakekubelet.Settle(again), nil, 0, t0); p.State != podupdate.Done {
		t.Error(p)
	}
}
