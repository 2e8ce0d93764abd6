package scenarios_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// A version of a pod is what is on the tape from a moment on.
type version struct {
	at  time.Duration
	pod corev1.Pod
}

func (v *version) status() *corev1.ContainerStatus { return &v.pod.Status.ContainerStatuses[0] }

func (v *version) ready() bool {
	return slices.ContainsFunc(v.pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// condition is a pod's condition of a type, or nil.
func (v *version) condition(of corev1.PodConditionType) *corev1.PodCondition {
	for i := range v.pod.Status.Conditions {
		if c := &v.pod.Status.Conditions[i]; c.Type == of {
			return c
		}
	}
	return nil
}

// phase is the sandbox phase, which says how an update stands.
func (v *version) phase() string { return v.pod.Labels["agentbox.navix.sh/sandbox-phase"] }

// versionsOf are the versions of each pod of web, by the pod's name, and the
// names in the order in which the pods were changed first.
func versionsOf(t *testing.T, scenario string, settings ...string) (map[string][]version, []string) {
	t.Helper()
	r, err := timeline.NewReader(bytes.NewReader(tapeOf(t, scenario, settings...).text))
	if err != nil {
		t.Fatal(err)
	}
	all, changed := map[string][]version{}, []string{}
	for ev, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Resource != "pods" || !strings.HasPrefix(ev.Name, "web-") || ev.Object == nil {
			continue
		}
		v := version{at: ev.At}
		if err := json.Unmarshal(ev.Object, &v.pod); err != nil {
			t.Fatal(err)
		}
		was := all[ev.Name]
		if v.pod.Generation == 2 && len(was) > 0 && was[len(was)-1].pod.Generation == 1 {
			changed = append(changed, ev.Name)
		}
		all[ev.Name] = append(was, v)
	}
	return all, changed
}

// moment is when a pod first was like that, from another moment on, or never.
func moment(of []version, from time.Duration, is func(*version) bool) time.Duration {
	for i := range of {
		if of[i].at >= from && is(&of[i]) {
			return of[i].at
		}
	}
	return never
}

// Each pod gets the image where it is, one after the other, and stays what it was
// in everything else.
func TestInplaceImage(t *testing.T) {
	t.Parallel()
	s := tell(t, "inplace-image")
	pods, order := versionsOf(t, "inplace-image")
	is(s, "outcome", s.outcome(), "")
	is(s, "pods", len(pods), 6)
	is(s, "pods that were changed", len(order), 6)
	is(s, "in the order of their names", slices.IsSorted(order), true)
	is(s, "scope", s.header.Scope.Namespace+" "+s.header.Scope.Pods, "shop app=web")
	before := time.Duration(0)
	for _, name := range order {
		all := pods[name]
		old, end := all[0], all[len(all)-1]
		triggered := moment(all, 0, func(v *version) bool { return v.pod.Spec.Containers[0].Image == "registry.example/web:2.0.0" })
		starting := moment(all, 0, func(v *version) bool { return v.phase() == "starting" })
		observed := moment(all, 0, func(v *version) bool { return v.pod.Status.ObservedGeneration == 2 })
		renewed := moment(all, 0, func(v *version) bool { return v.status().ContainerID != old.status().ContainerID })
		ready := moment(all, renewed, (*version).ready)
		done := moment(all, 0, func(v *version) bool { return v.phase() == "running" })
		s.after(name+" is triggered", triggered, "the one before is done", before)
		is(s, name+": the image and how it stands are one write", starting, triggered)
		s.within(name+": from the trigger until its kubelet has seen it", observed-triggered, 0, time.Second)
		s.after(name+": the new container", renewed, "that", observed)
		s.after(name+": ready", ready, "that", renewed)
		s.within(name+": from ready until it is marked", done-ready, 0, 3*time.Second)
		before = done

		is(s, name+": UID", end.pod.UID, old.pod.UID)
		is(s, name+": node", end.pod.Spec.NodeName, old.pod.Spec.NodeName)
		is(s, name+": address", end.pod.Status.PodIP, old.pod.Status.PodIP)
		is(s, name+": start", end.pod.Status.StartTime.Time, old.pod.Status.StartTime.Time)
		is(s, name+": phases", len(where(all, func(v version) bool { return v.pod.Status.Phase != corev1.PodRunning })), 0)
		is(s, name+": image ID", end.status().ImageID == old.status().ImageID, false)
		first := all[slices.IndexFunc(all, func(v version) bool { return v.at == renewed })]
		is(s, name+": restarts", first.status().RestartCount, old.status().RestartCount+1)
		is(s, name+": ready with its new container at once", first.ready(), false)
		last := first.status().LastTerminationState.Terminated
		if last == nil || last.ContainerID != old.status().ContainerID || last.FinishedAt.Before(&last.StartedAt) {
			t.Errorf("%s: last state: found %+v, want the container of before", name, last)
		}
		killing := s.about(name, "kubelet", "Killing")
		is(s, name+": events Killing", len(killing), 1)
		is(s, name+": the kubelet says", killing[0].message, "Container web definition changed, will be restarted")
		for _, reason := range []string{"Pulled", "Created", "Started"} {
			s.after(name+": "+reason, s.about(name, "kubelet", reason)[0].first(), "Killing", killing[0].first())
		}
		is(s, name+": other sandboxes", len(s.about(name, "kubelet", "SandboxChanged")), 0)
	}
	is(s, "fewest pods that are ready", s.leastReady("web"), 5)
	// The image is pulled once on each node.
	is(s, "pulls", len(s.eventsOf("kubelet", "Pulling")), 3)
	crash := where(s.marks, func(m timeline.Event) bool { return m.Name == "unexpected restart" })
	is(s, "marks of restarts that nobody wanted", len(crash), 1)
	s.within("that mark", crash[0].At, 5*time.Minute, 5*time.Minute+30*time.Second)
	s.golden(underWay(pods[order[1]]), s.end)
}

// underWay is when a pod's update begins.
func underWay(of []version) time.Duration {
	return moment(of, 0, func(v *version) bool { return v.phase() == "starting" })
}

// The first pod that can't have the image is the last that was asked to.
func TestInplaceImageThatIsMissing(t *testing.T) {
	t.Parallel()
	s := tell(t, "inplace-image", "missing=true")
	pods, order := versionsOf(t, "inplace-image", "missing=true")
	is(s, "pods that were changed", len(order), 1)
	all := pods[order[0]]
	if want := "DeadlineExceeded: pod shop/" + order[0] + ": ImagePullBackOff after "; !strings.HasPrefix(s.outcome(), want) {
		t.Errorf("outcome: found %q, want %q and more", s.outcome(), want)
	}
	triggered := moment(all, 0, func(v *version) bool { return v.phase() == "starting" })
	failed := moment(all, 0, func(v *version) bool { return v.phase() == "failed" })
	s.within("from the trigger until it is given up", failed-triggered, 2*time.Minute, 2*time.Minute+10*time.Second)
	pulls := moment(all, 0, func(v *version) bool { return v.status().State.Waiting != nil })
	at := all[slices.IndexFunc(all, func(v version) bool { return v.at == pulls })]
	is(s, "what it waits for first", at.status().State.Waiting.Reason, "ErrImagePull")
	is(s, "its restarts then", at.status().RestartCount, 0)
	is(s, "the image that it ran", at.status().Image, "registry.example/web:1.0.0")
	is(s, "its phase", at.pod.Status.Phase, corev1.PodRunning)
	is(s, "fewest pods that are ready before the crash", leastReadyUntil(s, 4*time.Minute), 5)
	s.golden()
}

func leastReadyUntil(s *story, until time.Duration) int {
	least, _ := extremes(s.readyChanges("web"), 0, until)
	return least
}

// What has failed, and what has been changed before, has the old image again.
func TestInplaceImageGoesBack(t *testing.T) {
	t.Parallel()
	settings := []string{"crashing=true", "maxUnavailable=2", "onFailure=rollback", "restart=false"}
	s := tell(t, "inplace-image", settings...)
	pods, order := versionsOf(t, "inplace-image", settings...)
	is(s, "outcome", s.outcome(), "RolledBack: the pods of web have registry.example/web:1.0.0 again")
	is(s, "pods that were changed", len(order), 2)
	is(s, "marks", len(s.marks), 2)
	is(s, "the first mark", s.marks[0].Name, "rollback")
	for name, all := range pods {
		end := all[len(all)-1]
		is(s, name+": image in the end", end.pod.Spec.Containers[0].Image+" "+end.status().Image, "registry.example/web:1.0.0 registry.example/web:1.0.0")
		is(s, name+": ready in the end", end.ready(), true)
	}
	for _, name := range order {
		all := pods[name]
		crashes := moment(all, 0, func(v *version) bool {
			return v.status().State.Waiting != nil && v.status().State.Waiting.Reason == "CrashLoopBackOff"
		})
		s.after(name+" goes back", moment(all, 0, func(v *version) bool { return v.pod.Generation == 3 }), "it is held back for its crashes", crashes)
		is(s, name+": Killing", s.about(name, "kubelet", "Killing")[0].count, 1)
	}
	s.golden()
}

// The containers run on, and say at each step what they have.
func TestInplaceResize(t *testing.T) {
	t.Parallel()
	s := tell(t, "inplace-resize")
	pods, order := versionsOf(t, "inplace-resize")
	is(s, "outcome", s.outcome(), "")
	is(s, "pods that were changed", len(order), 6)
	for _, name := range order {
		all := pods[name]
		old, end := all[0], all[len(all)-1]
		is(s, name+": what it has at first", had(&old), "200m 256Mi, 200m 256Mi")
		wanted := moment(all, 0, func(v *version) bool { return v.pod.Generation == 2 })
		progress := moment(all, 0, func(v *version) bool { return v.condition(corev1.PodResizeInProgress) != nil })
		given := moment(all, 0, func(v *version) bool { return had(v) == "600m 512Mi, 600m 512Mi" })
		s.after(name+": PodResizeInProgress", progress, "it is wanted", wanted)
		at := all[slices.IndexFunc(all, func(v version) bool { return v.at == progress })]
		is(s, name+": what it has while in progress", had(&at), "600m 512Mi, 200m 256Mi")
		s.within(name+": from there until it has it", given-progress, 0, 2*time.Second)
		is(s, name+": conditions of the resize in the end", end.condition(corev1.PodResizeInProgress) == nil && end.condition(corev1.PodResizePending) == nil, true)
		is(s, name+": container", end.status().ContainerID, old.status().ContainerID)
		is(s, name+": quality of service", end.pod.Status.QOSClass, old.pod.Status.QOSClass)
		completed := s.about(name, "kubelet", "ResizeCompleted")
		is(s, name+": events ResizeCompleted", len(completed), 1)
		is(s, name+": the kubelet says", completed[0].message,
			`Pod resize completed: {"containers":[{"name":"web","resources":{"requests":{"cpu":"600m","memory":"512Mi"}}}],"generation":2}`)
	}
	is(s, "fewest pods that are ready", s.leastReady("web"), 6)
	is(s, "events Killing", len(s.eventsOf("kubelet", "Killing")), 0)
	s.golden()
}

// had is what a container's status says that was set aside for it, and that it has.
func had(v *version) string {
	set, has := v.status().AllocatedResources, v.status().Resources.Requests
	return set.Cpu().String() + " " + set.Memory().String() + ", " + has.Cpu().String() + " " + has.Memory().String()
}

// A policy has the containers started again, a node that is full has them wait.
func TestInplaceResizeWaitsAndRestarts(t *testing.T) {
	t.Parallel()
	settings := []string{"batch=20", "policy=RestartContainer"}
	s := tell(t, "inplace-resize", settings...)
	pods, order := versionsOf(t, "inplace-resize", settings...)
	is(s, "outcome", s.outcome(), "")
	first := pods[order[0]]
	pending := moment(first, 0, func(v *version) bool { return v.condition(corev1.PodResizePending) != nil })
	at := first[slices.IndexFunc(first, func(v version) bool { return v.at == pending })]
	is(s, "why the first waits", at.condition(corev1.PodResizePending).Reason, "Deferred")
	is(s, "what it has meanwhile", had(&at), "200m 256Mi, 200m 256Mi")
	s.within("it waits until batch goes", moment(first, pending, func(v *version) bool { return v.condition(corev1.PodResizePending) == nil }), 4*time.Minute, 4*time.Minute+30*time.Second)
	for _, name := range order {
		all := pods[name]
		end := all[len(all)-1]
		is(s, name+": restarts", end.status().RestartCount, 1)
		is(s, name+": what it has in the end", had(&end), "600m 512Mi, 600m 512Mi")
		is(s, name+": the kubelet says", s.about(name, "kubelet", "Killing")[0].message, "Container web resize requires restart")
	}
}

// More than a node has: the kubelet says so, and since 1.36 the API server does.
func TestInplaceResizeBeyondTheNodes(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]string{
		"1.33": "Infeasible: pod shop/NAME: Node didn't have enough capacity: cpu, requested: 8000, capacity: 3920",
		"1.36": `Forbidden: pods "NAME" is forbidden: node didn't have enough allocatable resources: cpu, requested: 8000, allocatable: 3920`,
	} {
		s := tell(t, "inplace-resize", "cpu=8", "version="+release)
		pods, _ := versionsOf(t, "inplace-resize", "cpu=8", "version="+release)
		name := slices.Min(slices.Collect(maps.Keys(pods)))
		is(s, "outcome", s.outcome(), strings.ReplaceAll(want, "NAME", name))
		end := pods[name][len(pods[name])-1]
		is(s, "what it has in the end", had(&end), "200m 256Mi, 200m 256Mi")
		is(s, "fewest pods that are ready", s.leastReady("web"), 6)
	}
}

// A node is lost in the middle: the pods that are created again are born with the
// image, are changed no more, and the roll waits for them.
func TestInplaceImageWhenANodeIsLost(t *testing.T) {
	t.Parallel()
	d, err := scenarios.Parse("lost.yaml", []byte(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: lost, title: a node is lost while pods are updated}
timeLimit: 1h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- {name: workers, nodes: 3}
workloads:
- {name: web, namespace: shop, kind: ReplicaSet, replicas: 9, spread: host}
roll: {strategy: inplace-image, workload: web, image: "registry.example/web:2.0.0", joinTimeout: 15m}
faults:
- {at: 50s, vanish: {nodes: 1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		f, err := d.Resolve(nil, &seed)
		if err != nil {
			t.Fatal(err)
		}
		pods := map[string]corev1.Pod{}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case ev.Type == timeline.Mark:
				t.Errorf("seed %d: mark %q at %s: %s: want a roll that is complete", seed, ev.Name, ev.At, ev.Reason)
			case ev.Resource != "pods" || ev.Namespace != "shop":
			case ev.Type == timeline.Deleted:
				delete(pods, ev.Name)
			default:
				var p corev1.Pod
				if err := json.Unmarshal(ev.Object, &p); err != nil {
					t.Fatal(err)
				}
				pods[ev.Name] = p
			}
		}
		born := 0
		for name, p := range pods {
			if v := (version{pod: p}); p.Spec.Containers[0].Image != "registry.example/web:2.0.0" || !v.ready() {
				t.Errorf("seed %d: %s in the end: image %s, ready %t", seed, name, p.Spec.Containers[0].Image, v.ready())
			}
			if p.Generation == 1 && p.Annotations == nil {
				born++
			}
		}
		if len(pods) != 9 || born != 3 {
			t.Errorf("seed %d: %d pods in the end, %d of them born with the image: want 9 and 3", seed, len(pods), born)
		}
	}
}
