package roller_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

func TestOnePodAfterTheOther(t *testing.T) {
	roll := to("web:2")
	roll.Digests = &imageresolver.Learned{}
	w := newFixture(t, roll, some(3, "web:1")...)
	if d := w.pass(); d.Standing != roller.Rolling || d.Counts.Outdated != 3 {
		t.Fatal(d)
	}
	w.did("trigger shop/web-0: app=web:2")
	w.kubelet("web-0", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Start(pod, "app") })
	if d := w.pass(); len(d.Actions) != 0 || d.Counts.Updating != 1 || len(d.Blockers) != 2 {
		t.Fatal(d)
	}
	w.settle()
	w.pass()
	w.did("mark shop/web-0")
	w.pass()
	w.did("trigger shop/web-1: app=web:2")
	for range 3 {
		w.settle()
		w.pass()
		w.pass()
	}
	if d := w.pass(); d.Standing != roller.Finished || d.Counts.Updated != 3 {
		t.Fatal(d)
	}
	if _, ok := roll.Digests.(*imageresolver.Learned).Manifest("web:2"); !ok {
		t.Error("the roll has taught nothing")
	}
	if got := w.images(); got != "web:2 web:2 web:2" {
		t.Error(got)
	}
}

func TestNeverMoreThanMayBeUnavailable(t *testing.T) {
	for most := 1; most <= 4; most++ {
		roll := to("web:2")
		roll.MaxUnavailable = most
		w := newFixture(t, roll, some(7, "web:1")...)
		for range 60 {
			d := w.pass()
			if d.Counts.Unavailable > most {
				t.Fatalf("MaxUnavailable %d: %s", most, d)
			}
			if d.Standing == roller.Finished {
				break
			}
			// One kubelet takes one step.
			for _, pod := range w.pods() {
				if s := fakekubelet.Status(&pod, "app"); s.Image != pod.Spec.Containers[0].Image {
					w.kubelet(pod.Name, func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Start(pod, "app") })
					break
				} else if !s.Ready {
					w.kubelet(pod.Name, fakekubelet.Settle)
					break
				}
			}
			if n := unavailable(w.pods()); n > most {
				t.Fatalf("MaxUnavailable %d: %d aren't ready", most, n)
			}
		}
		if d := w.pass(); d.Standing != roller.Finished {
			t.Fatalf("MaxUnavailable %d: %s", most, d)
		}
	}
}

func TestAPodThatIsNotReadyCostsNothing(t *testing.T) {
	w := newFixture(t, to("web:2"), some(3, "web:1")...)
	w.kubelet("web-2", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Wait(pod, "app", "CrashLoopBackOff", "") })
	w.pass()
	w.did("trigger shop/web-2: app=web:2")
	d := w.pass()
	if d.Standing != roller.Rolling || d.Counts.Unavailable != 1 {
		t.Fatal(d)
	}
	w.did()
}

func TestMissingPodsAreUnavailable(t *testing.T) {
	roll := to("web:2")
	roll.Replicas = 4
	w := newFixture(t, roll, some(3, "web:1")...)
	if d := w.pass(); d.Standing != roller.Stuck || d.Counts.Unavailable != 1 || len(d.Blockers) != 4 {
		t.Fatal(d)
	}
	w.did()
}

func TestADeadlineTakesAPodBackAndStopsTheRoll(t *testing.T) {
	roll := to("web:none")
	roll.OnFailure = roller.Rollback
	w := newFixture(t, roll, some(3, "web:1")...)
	w.pass()
	w.kubelet("web-0", func(pod *corev1.Pod) *corev1.Pod {
		return fakekubelet.Wait(pod, "app", "ImagePullBackOff", "no such tag")
	})
	w.clock.Step(5 * time.Minute)
	w.pass()
	w.did("trigger shop/web-0: app=web:none")
	w.clock.Step(time.Second)
	w.pass()
	w.did("rollback shop/web-0 (app): DeadlineExceeded: ImagePullBackOff after 5m1s of 5m0s: no such tag")
	if d := w.pass(); d.Standing != roller.Rolling || d.Counts.GoingBack != 1 {
		t.Fatal(d)
	}
	w.settle()
	w.pass()
	w.did("mark shop/web-0")
	if d := w.pass(); d.Standing != roller.Stopped || d.Counts.GivenUp != 1 || d.Counts.Failures != 1 {
		t.Fatal(d)
	}
	if got := w.images(); got != "web:1 web:1 web:1" {
		t.Error(got)
	}
	// A later roll to the same image tries again.
	w.clock.Step(time.Minute)
	w.roller.Roll.Since = w.clock.Now()
	w.pass()
	w.did("trigger shop/web-0: app=web:none")
}

func TestStopLeavesAFailedPodAsItStands(t *testing.T) {
	w := newFixture(t, to("web:none"), some(2, "web:1")...)
	w.pass()
	w.kubelet("web-0", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Wait(pod, "app", "InvalidImageName", "no") })
	w.pass()
	w.did("trigger shop/web-0: app=web:none", "fail shop/web-0 (app): InvalidImageName: no")
	if d := w.pass(); d.Standing != roller.Stopped || d.Counts.GivenUp != 1 {
		t.Fatal(d)
	}
	if got := w.images(); got != "web:none web:1" {
		t.Error(got)
	}
}

func TestRollbackAllTakesEveryPodBack(t *testing.T) {
	roll := to("web:2")
	roll.OnFailure = roller.RollbackAll
	w := newFixture(t, roll, some(4, "web:1")...)
	for range 2 {
		w.pass()
		w.settle()
		w.pass()
	}
	w.pass()
	w.kubelet("web-2", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Wait(pod, "app", "CrashLoopBackOff", "") })
	w.clock.Step(6 * time.Minute)
	var last roller.Decision
	for range 20 {
		if last = w.pass(); last.Standing.Ended() {
			break
		}
		if last.Counts.Unavailable > 1 {
			t.Fatal(last)
		}
		w.settle()
	}
	if last.Standing != roller.RolledBack {
		t.Fatal(last)
	}
	if got := w.images(); got != "web:1 web:1 web:1 web:1" {
		t.Error(got)
	}
}

func TestAnUnexpectedRestartIsReportedOnce(t *testing.T) {
	w := newFixture(t, to("web:2"), some(1, "web:1")...)
	var restarts []roller.Restart
	w.roller.OnRestart = func(r roller.Restart) { restarts = append(restarts, r) }
	w.pass()
	w.settle()
	w.pass()
	w.kubelet("web-0", func(pod *corev1.Pod) *corev1.Pod {
		fakekubelet.Start(pod, "app")
		fakekubelet.Status(pod, "app").LastTerminationState.Terminated.Reason = "OOMKilled"
		return fakekubelet.Settle(pod)
	})
	w.told = nil
	for range 3 {
		w.pass()
	}
	w.did("report shop/web-0 (app): UnexpectedRestart: OOMKilled")
	if len(restarts) != 1 || restarts[0].Container != "app" || !strings.HasSuffix(restarts[0].ContainerID, "-2") {
		t.Errorf("%+v", restarts)
	}
}

func TestABrokenPodIsABlocker(t *testing.T) {
	pods := some(2, "web:1")
	pods[0].Annotations = map[string]string{"agentbox.navix.sh/inplace-update-state": `{"phase":`}
	w := newFixture(t, to("web:2"), pods...)
	for range 3 {
		w.pass()
		w.settle()
	}
	d := w.pass()
	if d.Standing != roller.Stuck || d.Counts.Broken != 1 || !strings.Contains(d.Blockers[0].Reason, "broken") {
		t.Fatal(d)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	w := newFixture(t, to("web:2"), some(2, "web:1")...)
	w.roller.DryRun = true
	d, err := w.roller.Run(t.Context())
	if err != nil || len(d.Actions) != 1 {
		t.Fatal(d, err)
	}
	w.did("trigger shop/web-0: app=web:2")
	if got := w.images(); got != "web:1 web:1" {
		t.Error(got)
	}
}

func TestRunEndsOnWhatNoPassMends(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("no patch"))
	funcs := interceptor.Funcs{Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
		return forbidden
	}}
	w := interfered(t, funcs, to("web:2"), some(2, "web:1")...)
	if _, err := w.roller.Run(t.Context()); !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	w.roller.Roll = roller.Roll{}
	if _, err := w.roller.Run(t.Context()); !errors.Is(err, roller.ErrUnsound) {
		t.Fatal(err)
	}
}

func TestRunGoesOnAfterWhatAPassMends(t *testing.T) {
	away := 3
	funcs := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if away > 0 {
			away--
			return apierrors.NewServiceUnavailable("restarting")
		}
		return c.List(ctx, list, opts...)
	}}
	w := interfered(t, funcs, to("web:1"), some(2, "web:1")...)
	wake := make(chan struct{}, 3)
	for range 3 {
		wake <- struct{}{}
	}
	w.roller.Wake = wake
	told := 0
	w.roller.OnError = func(error) { told++ }
	d, err := w.roller.Run(t.Context())
	if err != nil || d.Standing != roller.Finished || told != 3 {
		t.Fatal(d, err, told)
	}
}

func TestADecisionIsTheSameInWhateverOrderPodsAreListed(t *testing.T) {
	w := newFixture(t, to("web:2"), some(4, "web:1")...)
	w.pass()
	pods := w.pods()
	first, err := roller.Plan(w.roller.Roll, pods, roller.State{}, w.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		pods = append(pods[1:], pods[0])
		again, err := roller.Plan(w.roller.Roll, pods, roller.State{}, w.clock.Now())
		if err != nil || again.String() != first.String() {
			t.Fatalf("%s\nwant %s", again, first)
		}
	}
}
