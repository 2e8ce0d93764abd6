package workloads

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// rig is the controllers in a cluster without kubelets: what one would do, a test does by hand.
type rig struct {
	*Actor
	t      testing.TB
	texts  map[string][]byte // of all objects but pods, by resource/name
	events []string          // reason and message of each
	uids   int
}

func newRig(t testing.TB) *rig {
	t.Helper()
	v, err := model.ParseVersion("1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	timings := model.DefaultTimings("", "").For(v)
	l := &loop.Loop{}
	env := &component.Env{Loop: l, Seed: 3, Timings: &timings, Version: v}
	r := &rig{t: t, texts: map[string][]byte{}}
	env.API = kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Now: l.Now,
		UID:  func() string { r.uids++; return fmt.Sprintf("pod-%d", r.uids) },
		Sink: r.sink, Fail: func(err error) { t.Error(err); l.Fail(err) },
	})
	env.API.PatchesOnly()
	r.Actor = New(Config{Env: env, Ending: func(string) bool { return false }})
	return r
}

func (r *rig) sink(ev timeline.Event) error {
	key := ev.Resource + "/" + ev.Name
	switch {
	case ev.Resource == "events":
		if text := string(ev.Object); ev.Type == timeline.Added {
			r.events = append(r.events, rawjson.Text([]byte(text), "reason")+": "+rawjson.Text([]byte(text), "message"))
		}
		return nil
	case ev.Resource == "pods":
		return nil
	case ev.Type == timeline.Deleted:
		delete(r.texts, key)
	case ev.Object != nil:
		r.texts[key] = slices.Clone(ev.Object)
	default:
		r.texts[key] = rawjson.Apply(nil, r.texts[key], ev.Patch)
	}
	return r.Put(&ev)
}

// put writes an object as a client does.
func (r *rig) put(resource, name, text string) {
	r.t.Helper()
	raw, err := rawjson.Compact(nil, []byte(text))
	if err != nil {
		r.t.Fatal(err)
	}
	key, what := resource+"/"+name, timeline.Modified
	if was := r.texts[key]; was != nil {
		raw = rawjson.Apply(nil, was, raw)
		if n, err := strconv.Atoi(string(rawjson.Get(was, "metadata", "generation"))); err == nil {
			raw = rawjson.Apply(nil, raw, fmt.Appendf(nil, `{"metadata":{"generation":%d}}`, n+1))
		}
	} else {
		what = timeline.Added
		raw = rawjson.Apply(nil, raw, fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":"shop","uid":%q,"generation":1,"creationTimestamp":%q}}`,
			name, "uid-"+name, r.stamp().UTC().Format(time.RFC3339)))
	}
	r.texts[key] = raw
	if err := r.Put(&timeline.Event{Type: what, Resource: resource, Namespace: "shop", Name: name, UID: "uid-" + name, Object: raw}); err != nil {
		r.t.Fatal(err)
	}
}

// pass lets time pass.
func (r *rig) pass(d time.Duration) {
	r.t.Helper()
	if err := r.env.Run(r.env.Now() + d); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(resource, name string, into any) {
	r.t.Helper()
	text := r.texts[resource+"/"+name]
	if text == nil {
		r.t.Fatalf("no %s %s", resource, name)
	}
	if err := json.Unmarshal(text, into); err != nil {
		r.t.Fatal(err)
	}
}

// running are the pods that haven't ended, the oldest first.
func (r *rig) running() (some []*kube.Pod) {
	for _, p := range r.env.API.Pods() {
		if p.Active() {
			some = append(some, p)
		}
	}
	slices.SortStableFunc(some, func(a, b *kube.Pod) int { return int(a.Version()) - int(b.Version()) })
	return some
}

// ready has pods be Ready, as their kubelets say.
func (r *rig) ready(pods ...*kube.Pod) {
	for _, p := range pods {
		r.env.API.UpdatePod(p, func(p *kube.Pod) {
			p.Phase, p.NodeName = "Running", "node"
			p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "True", Transition: r.env.API.Now()})
		})
	}
}

// end has a pod end, and with it its containers.
func (r *rig) end(p *kube.Pod, phase string, code int) {
	now := r.env.API.Now()
	r.env.API.UpdatePod(p, func(p *kube.Pod) {
		p.Phase, p.NodeName = phase, cmp.Or(p.Pinned, "node")
		p.Containers = []kube.Container{{Name: "c", State: kube.ContainerState{Kind: "terminated", ExitCode: code, StartedAt: now, Finished: now}}}
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "False", Transition: now})
	})
}

// leave has the pods that are being deleted go.
func (r *rig) leave() {
	for _, p := range slices.Clone(r.env.API.Pods()) {
		if p.Terminating() {
			r.env.API.DeletePod(p, 0)
		}
	}
}

// said returns what was reported since the last call.
func (r *rig) said() string {
	all := strings.Join(r.events, "\n")
	r.events = nil
	return all
}

func jobLine(job *batchv1.Job) string {
	s := &job.Status
	var b strings.Builder
	fmt.Fprintf(&b, "active %d ready %d terminating %d succeeded %d failed %d", s.Active, value(s.Ready), value(s.Terminating), s.Succeeded, s.Failed)
	if s.CompletedIndexes != "" {
		fmt.Fprintf(&b, " completed %s", s.CompletedIndexes)
	}
	if s.FailedIndexes != nil {
		fmt.Fprintf(&b, " failedIndexes %q", *s.FailedIndexes)
	}
	if u := s.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		fmt.Fprintf(&b, " uncounted %d", len(u.Succeeded)+len(u.Failed))
	}
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "; %s=%s %s", c.Type, c.Status, c.Reason)
	}
	return b.String()
}

func deploymentLine(d *appsv1.Deployment) string {
	s := &d.Status
	line := fmt.Sprintf("replicas %d updated %d ready %d available %d unavailable %d", s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.UnavailableReplicas)
	for _, c := range s.Conditions {
		line += fmt.Sprintf("; %s=%s %s", c.Type, c.Status, c.Reason)
	}
	return line
}

func value(n *int32) int32 {
	if n == nil {
		return -1
	}
	return *n
}

const podSpec = `"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox:1"}]}`
