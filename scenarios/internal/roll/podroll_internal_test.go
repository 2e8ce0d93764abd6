package roll

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/roller"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// podFixture is a store with pods of web and no kubelet: what becomes of them
// draws the test.
type podFixture struct {
	testing.TB
	*component.Env
	r        *PodRoller
	template *kube.Template
	replicas int
	made     int
	out      *Outcome
}

func newPodFixture(t testing.TB, pods int, change func(*PodConfig)) *podFixture {
	t.Helper()
	l := &loop.Loop{}
	uids := 0
	timings := model.DefaultTimings(model.EKS, model.AL2023)
	s := &podFixture{TB: t, replicas: pods}
	s.Env = &component.Env{Loop: l, Seed: 7, Timings: &timings, Version: model.Version{Minor: 34}}
	s.API = kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Version: 1000, Now: l.Now, Fail: l.Fail,
		UID:  func() string { uids++; return fmt.Sprintf("u%d", uids) },
		Sink: func(timeline.Event) error { return nil },
	})
	s.template = &kube.Template{Containers: []kube.ContainerSpec{{Name: "web", Image: "web:1", CPU: 100}}, RestartPolicy: "Always"}
	for range pods {
		s.make()
	}
	cfg := PodConfig{
		Name: "web", Namespace: "shop", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "web"}),
		Replicas:  func() int { return s.replicas },
		Redefine:  func(change func(*kube.ContainerSpec)) error { s.template = s.template.Variant(change); return nil },
		Container: "web", Image: "web:2", MaxUnavailable: 2, Deadline: 5 * time.Minute,
	}
	change(&cfg)
	s.r = NewPodRoller(s.Env, cfg)
	s.r.Ended = func(o Outcome) { s.out = &o }
	return s
}

// make is a ReplicaSet that creates a pod, and a kubelet that has started it.
func (s *podFixture) make() {
	s.Helper()
	s.made++
	p := &kube.Pod{Template: s.template, Phase: "Running", NodeName: "n1"}
	p.Namespace, p.Name, p.Generation = "shop", fmt.Sprintf("web-%03d", s.made), 1
	p.Labels = kube.PairsOf(kube.Pair{Key: "app", Value: "web"})
	s.run(p, true)
	if err := s.API.CreatePod(p); err != nil {
		s.Fatal(err)
	}
}

// run is a kubelet that has started what the pod's spec says.
func (s *podFixture) run(p *kube.Pod, ready bool) {
	s.made++
	restarts := int32(0)
	if len(p.Containers) > 0 {
		restarts = p.Containers[0].Restarts + 1
	}
	p.Containers = []kube.Container{{
		Name: "web", Image: p.Template.Containers[0].Image, ImageID: p.Template.Containers[0].Image + "@sha256:" + strings.Repeat("1", 64),
		ContainerID: fmt.Sprint("containerd://", s.made), Restarts: restarts, Ready: ready, Started: true,
		State: kube.ContainerState{Kind: "running", StartedAt: s.API.Now().Second()},
	}}
	s.observe(p, ready)
}

func (s *podFixture) observe(p *kube.Pod, ready bool) {
	p.ObservedGeneration = p.Generation
	status := "False"
	if ready {
		status = "True"
	}
	p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: status, Transition: s.API.Now().Second(), Observed: p.Generation})
}

// pass lets time go on.
func (s *podFixture) pass(d time.Duration) {
	s.Helper()
	if err := s.Run(s.Now() + d); err != nil {
		s.Fatal(err)
	}
}

// twins plans with what the podSet shows the planner, and with all pods.
func (s *podFixture) twins() (few, all []string) {
	s.Helper()
	actions := func(d roller.Decision, err error) (all []string) {
		if err != nil {
			s.Fatal(err)
		}
		for _, a := range d.Actions {
			if a.Kind != roller.Report {
				all = append(all, a.String())
			}
		}
		return all
	}
	_, _, d, err := s.r.plan(s.r.halted && s.r.cfg.Rollback)
	few = actions(d, err)
	if !s.r.halted && slices.ContainsFunc(d.Actions, func(a roller.Action) bool { return a.Kind == roller.TakeBack }) {
		_, _, d, err = s.r.plan(true)
		few = actions(d, err)
	}
	var every []corev1.Pod
	for _, m := range s.r.podSet.members {
		var pod corev1.Pod
		if err := m.object(&pod); err != nil {
			s.Fatal(err)
		}
		every = append(every, pod)
	}
	roll := s.r.roll
	roll.Replicas = s.replicas
	return few, actions(roller.Plan(roll, every, roller.State{}, s.API.Now().Time()))
}

// TestThePodSetHidesNothing: whatever becomes of the pods, a plan of those that
// are shown begins, ends and takes back the same as a plan of all.
func TestThePodSetHidesNothing(t *testing.T) {
	for seed := range uint64(15) {
		chance := rand.New(rand.NewPCG(seed, 1))
		s := newPodFixture(t, 12, func(c *PodConfig) {
			c.MaxUnavailable, c.Rollback = 1+chance.IntN(4), chance.IntN(2) == 0
			c.Deadline = time.Duration(1+chance.IntN(20)) * 30 * time.Second
		})
		begun := false
		for range 250 {
			s.pass(time.Duration(chance.IntN(4000)) * time.Millisecond)
			if s.out != nil {
				break
			}
			pods := s.API.Pods()
			p := pods[chance.IntN(len(pods))]
			switch chance.IntN(8) {
			case 0, 1, 2:
				s.API.UpdatePod(p, func(p *kube.Pod) {
					if p.Containers[0].Image != p.Template.Containers[0].Image {
						s.run(p, chance.IntN(3) > 0)
					}
				})
			case 3, 4:
				s.API.UpdatePod(p, func(p *kube.Pod) { s.ready(p, true) })
			case 5:
				if chance.IntN(4) == 0 {
					s.API.UpdatePod(p, func(p *kube.Pod) { s.ready(p, false) })
				}
			case 6:
				if chance.IntN(6) == 0 {
					s.API.DeletePod(p, 0)
					s.make()
				}
			case 7:
				s.API.UpdatePod(p, func(p *kube.Pod) { s.observe(p, p.Ready()) })
			}
			few, all := s.twins()
			if diff := cmp.Diff(all, few); diff != "" {
				t.Fatalf("seed %d at %s: (-all +shown):\n%s", seed, s.Now(), diff)
			}
			begun = begun || len(s.r.podSet.open) > 0
		}
		if !begun {
			t.Errorf("seed %d: no pod was ever changed", seed)
		}
	}
}

func (s *podFixture) ready(p *kube.Pod, is bool) {
	p.Containers = slices.Clone(p.Containers)
	p.Containers[0].Ready = is
	s.observe(p, is)
}

// TestAPodThatIsMadeMeanwhileIsBornRight: it isn't changed any more, and the roll
// waits for it.
func TestAPodThatIsMadeMeanwhileIsBornRight(t *testing.T) {
	s := newPodFixture(t, 3, func(c *PodConfig) { c.MaxUnavailable = 1 })
	s.pass(10 * time.Second)
	for n := range 3 {
		i := slices.IndexFunc(s.API.Pods(), func(p *kube.Pod) bool { return p.Generation == 2 && p.Containers[0].Image == "web:1" })
		if i < 0 {
			t.Fatalf("step %d: no pod is being changed: %+v", n, s.out)
		}
		p := s.API.Pods()[i]
		if n == 1 {
			s.API.DeletePod(p, 0)
			s.pass(10 * time.Second)
			if s.out != nil || len(s.r.podSet.open) > 0 {
				t.Fatalf("the roll went on without one of its pods: %+v", s.out)
			}
			s.make()
		} else {
			s.API.UpdatePod(p, func(p *kube.Pod) { s.run(p, true) })
		}
		s.pass(10 * time.Second)
	}
	if s.out == nil || s.out.Failed {
		t.Fatalf("the roll ended as %+v", s.out)
	}
	for _, p := range s.API.Pods() {
		if p.Template.Containers[0].Image != "web:2" || !p.Ready() {
			t.Errorf("%s runs %s", p.Name, p.Template.Containers[0].Image)
		}
	}
}

// TestNothingHappensForTooLong: pods that nobody changes and that never get ready
// end the roll.
func TestNothingHappensForTooLong(t *testing.T) {
	s := newPodFixture(t, 3, func(c *PodConfig) { c.MaxUnavailable, c.Deadline = 1, time.Minute })
	s.replicas = 4
	s.pass(10 * time.Minute)
	if s.out == nil || s.out.Code != "DeadlineExceeded" {
		t.Fatalf("the roll ended as %+v", s.out)
	}
}
