package inplace_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// A life is a pod to which random things happen, in a random order.
type life struct {
	t    *testing.T
	r    *rand.Rand
	keys podupdate.Keys
	pod  *corev1.Pod
	now  time.Time
	log  []string
}

func (l *life) fail(format string, args ...any) {
	l.t.Helper()
	l.t.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(l.log, "\n"))
}

// images of which two have one digest.
var someImages = []string{"app:1", "app:2", "app:3", "mirror/app:1"}

func (l *life) image() string { return someImages[l.r.IntN(len(someImages))] }

// step is one of the steps of the machine. The same step again must change nothing.
func (l *life) step(name string, do func(*corev1.Pod) (*corev1.Pod, bool, error)) {
	l.log = append(l.log, name)
	before := l.pod.DeepCopy()
	next, changed, err := do(l.pod)
	if !equality.Semantic.DeepEqual(before, l.pod) {
		l.fail("%s has changed its argument:\n%s", name, cmp.Diff(before, l.pod))
	}
	if err != nil {
		if next != nil {
			l.fail("%s: a pod beside the error %v", name, err)
		}
		return
	}
	if changed == equality.Semantic.DeepEqual(before, next) {
		l.fail("%s: changed is %v:\n%s", name, changed, cmp.Diff(before, next))
	}
	if !equality.Semantic.DeepEqual(before.Spec, next.Spec) {
		next.Generation++
	}
	l.pod = next
	again, changed, err := do(l.pod)
	if err != nil || changed {
		l.fail("%s, done again, changed %v with error %v:\n%s", name, changed, err, cmp.Diff(next, again))
	}
}

func (l *life) act() {
	name := fakekubelet.Names[l.r.IntN(2)]
	l.now = l.now.Add(time.Duration(l.r.IntN(2e9)))
	switch l.r.IntN(10) {
	case 0, 1, 2:
		images := map[string]string{name: l.image()}
		if l.r.IntN(2) == 0 {
			images[fakekubelet.Names[l.r.IntN(2)]] = l.image()
		}
		opts := inplace.UpdateOptions{ContainerImages: images, Labels: map[string]string{prefix + "sandbox-id": "s"}}
		opts.Annotations = map[string]string{prefix + "claimed-at": "then"}
		if l.r.IntN(2) == 0 {
			opts = inplace.UpdateOptions{ContainerImages: images, UpdatePodPhase: "stopping", TargetPodPhase: "idle"}
		}
		l.step(fmt.Sprintf("trigger %v %s", images, opts.TargetPodPhase), func(pod *corev1.Pod) (*corev1.Pod, bool, error) {
			return l.keys.Apply(pod, opts, l.now)
		})
	case 3, 4:
		if p, err := l.keys.Progress(l.pod, nil, 0, l.now); err != nil {
			l.fail("%v", err)
		} else if p.State == podupdate.Done {
			l.step("mark", func(pod *corev1.Pod) (*corev1.Pod, bool, error) { return l.keys.Complete(pod, l.now) })
		}
	case 5:
		l.step("rollback", func(pod *corev1.Pod) (*corev1.Pod, bool, error) { return l.keys.Rollback(pod, l.now) })
	case 6:
		l.step("fail", func(pod *corev1.Pod) (*corev1.Pod, bool, error) {
			return l.keys.Fail(pod, podupdate.Progress{Reason: "Why"}, l.now)
		})
	default:
		l.kubelet(name)
	}
}

// kubelet takes one step of the kubelet's.
func (l *life) kubelet(name string) {
	s, spec := fakekubelet.Status(l.pod, name), ""
	for _, c := range l.pod.Spec.Containers {
		if c.Name == name {
			spec = c.Image
		}
	}
	switch {
	case s.Image != spec && s.State.Running != nil && l.r.IntN(4) == 0:
		l.log = append(l.log, "crash of "+name+", restarted by the old image")
		was, seen := s.Image, l.pod.Status.ObservedGeneration
		fakekubelet.Start(l.pod, name)
		s.Image, s.ImageID, s.Ready = was, fakekubelet.ImageID(was), true
		l.pod.Status.ObservedGeneration = seen
	case s.Image != spec && s.State.Running != nil:
		l.log = append(l.log, "kill "+name)
		fakekubelet.Kill(l.pod, name)
	case s.State.Running == nil && l.r.IntN(3) == 0:
		l.log = append(l.log, "image pull failed of "+name)
		fakekubelet.Wait(l.pod, name, "ImagePullBackOff", "")
	case s.State.Running == nil:
		l.log = append(l.log, "start "+name)
		fakekubelet.Start(l.pod, name)
	case !s.Ready:
		l.log = append(l.log, "ready "+name)
		s.Ready = true
		fakekubelet.Observe(l.pod)
	default:
		fakekubelet.Observe(l.pod)
	}
	// Two of the images are one.
	if s := fakekubelet.Status(l.pod, name); s.Image == "mirror/app:1" {
		s.ImageID = fakekubelet.ImageID("app:1")
	}
}

// check is the dumb twin: it says by the spec and the status alone what the machine must say.
func (l *life) check() {
	l.t.Helper()
	s := l.checkPhases()
	if !s.InFlight() {
		return
	}
	done := l.pod.Status.ObservedGeneration == l.pod.Generation
	for name := range s.TargetImages {
		for _, c := range l.pod.Spec.Containers {
			is := fakekubelet.Status(l.pod, name)
			done = done && (c.Name != name || is.State.Running != nil && is.Ready && is.Image == c.Image)
		}
	}
	if p, err := l.keys.Progress(l.pod, nil, 0, l.now); err != nil || (p.State == podupdate.Done) != done {
		l.fail("progress %v, %v: want done %v of %+v\n%+v", p, err, done, s, l.pod.Status.ContainerStatuses)
	}
}

// checkPhases checks that label and annotation are of one phase, and that an idle pod is nobody's.
func (l *life) checkPhases() *podupdate.State {
	l.t.Helper()
	s, err := l.keys.Read(l.pod)
	if err != nil {
		l.fail("%v", err)
	}
	label := l.pod.Labels[phaseLabel]
	if s != nil {
		want := map[string]string{"completed": s.TargetPodPhase, "failed": "failed"}[s.Phase]
		if s.InFlight() {
			want = s.Phase
		}
		if label != want {
			l.fail("two phases: label %q and %+v", label, s)
		}
	}
	if label == "idle" {
		for key := range l.pod.Annotations {
			if strings.HasPrefix(key, prefix) && key != stateKey && key != prefix+"last-active" {
				l.fail("an idle pod has the annotation %s", key)
			}
		}
		if l.pod.Labels[prefix+"sandbox-id"] != "" {
			l.fail("an idle pod has a sandbox")
		}
	}
	return s
}

func TestRandomLives(t *testing.T) {
	for seed := range uint64(100) {
		l := &life{t: t, r: rand.New(rand.NewPCG(seed, 1)), pod: aPod("idle", "app:1", "app:1"), now: t0}
		l.log = append(l.log, fmt.Sprintf("seed %d", seed))
		for range 60 {
			l.act()
			l.check()
		}
	}
}
