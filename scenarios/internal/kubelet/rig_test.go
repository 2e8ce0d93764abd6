package kubelet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// kubeletRig is a cluster of one group whose kubelets are tried, with the
// control plane left out: what it would do, a test does by hand.
type kubeletRig struct {
	testing.TB
	*component.Env
	k     *kubelet.Kubelets
	cfg   kubelet.Config
	group *cloud.Group
	tape  bytes.Buffer
	w     *timeline.Writer
	// story has one line for each event of the tape from the moment on when
	// tell is set: what a reader would notice.
	story []string
	quiet bool
}

type rigOptions struct {
	provider model.Provider
	os       model.OS
	version  string
	profile  kubelet.Profile
	jitter   int
	sink     func(timeline.Event) error
}

var rigStart = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func newKubeletRig(t testing.TB, o rigOptions) *kubeletRig {
	t.Helper()
	if o.provider == "" {
		o.provider = model.EKS
	}
	if o.os == "" {
		o.os = model.OSes(o.provider)[0]
	}
	if o.version == "" {
		o.version = "v1.33.5"
	}
	version, err := model.ParseVersion(o.version)
	if err != nil {
		t.Fatal(err)
	}
	timings := model.DefaultTimings(o.provider, o.os)
	r := &kubeletRig{TB: t}
	r.w, err = timeline.NewWriter(&r.tape, timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind, Metadata: timeline.Metadata{Name: "rig"},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &loop.Loop{}
	uids := 0
	sink := o.sink
	if sink == nil {
		sink = r.note
	}
	store := kube.New(kube.Config{
		Start: kube.InstantOf(rigStart), Version: 1000, Now: l.Now, Sink: sink, Fail: l.Fail,
		UID: func() string { uids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", uids) },
	})
	place := func(i *cloud.Instance) model.Place {
		n := i.Number + 10
		return model.Place{Zone: i.Zone, IP: netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), Ordinal: i.Number}
	}
	r.cfg = kubelet.Config{
		Profile: o.profile, Timings: func(*cloud.Group) *model.Timings { return &timings }, Place: place,
		Shape: func(i *cloud.Instance) model.Shape {
			v, _ := model.ParseVersion(i.Template.Version)
			machine, _ := model.FindMachine(i.Template.InstanceType)
			return model.Shape{
				Provider: o.provider, OS: o.os, Machine: machine, Version: v, Cluster: "rig", Group: "workers", Region: "us-east-1",
				Image: model.ImageOf(o.provider, o.os, v, machine.Arch, "20251112"),
			}
		},
	}
	c := cloud.New(cloud.Config{
		Loop: l, Seed: 7, Jitter: o.jitter, Timings: r.cfg.Timings,
		Identify: func(i *cloud.Instance) {
			shape := r.cfg.Node(7, i)
			i.ID, i.Name, i.IP = shape.InstanceID, shape.Name, place(i).IP.String()
		},
		ShutdownGrace: func(i *cloud.Instance) time.Duration { return r.cfg.ShutdownGrace(i) },
	})
	r.Env = &component.Env{Loop: l, API: store, Cloud: c, Seed: 7, Jitter: o.jitter, Timings: &timings, Version: version}
	r.group = &cloud.Group{
		Name: "workers", Zones: []string{"us-east-1a"}, Detached: true, FreeIPs: 1000,
		Template: cloud.Template{Version: o.version, InstanceType: "m5.large", OS: string(o.os)},
	}
	c.AddGroup(r.group)
	r.k = kubelet.New(r.Env, r.cfg)
	return r
}

// seed adds a node that has been running for a day.
func (r *kubeletRig) seed() (*cloud.Instance, *kube.Node) {
	i := r.Cloud.Seed(r.group, "us-east-1a")
	return i, r.k.Seed(i, 24*time.Hour)
}

// launch starts a new machine.
func (r *kubeletRig) launch() *cloud.Instance {
	r.Helper()
	i, err := r.Cloud.Launch(r.group, "", r.group.Template)
	if err != nil {
		r.Fatal(err)
	}
	return i
}

// pod creates a pod that is bound to a node.
func (r *kubeletRig) pod(name, node string, t *kube.Template) *kube.Pod {
	r.Helper()
	p := &kube.Pod{Template: t, NodeName: node, Phase: "Pending"}
	p.Namespace, p.Name, p.Generation = "default", name, 1
	p.Conditions = p.Conditions.Set(kube.Condition{Type: "PodScheduled", Status: "True", Transition: r.API.Now().Second(), Observed: 1})
	if err := r.API.CreatePod(p); err != nil {
		r.Fatal(err)
	}
	return p
}

// running creates a pod that has been running for an hour.
func (r *kubeletRig) runningPod(name, node string, t *kube.Template) *kube.Pod {
	r.Helper()
	p := &kube.Pod{Template: t, NodeName: node}
	p.Namespace, p.Name, p.Generation = "default", name, 1
	p.Created = r.API.Now().Add(-time.Hour)
	r.k.Running(p, p.Created)
	if err := r.API.CreatePod(p); err != nil {
		r.Fatal(err)
	}
	return p
}

func web() *kube.Template {
	return &kube.Template{
		Containers:   []kube.ContainerSpec{{Name: "web", Image: "registry.example/web:1", CPU: 100, Memory: 128 << 20}},
		GraceSeconds: 30, RestartPolicy: "Always", SchedulerName: "default-scheduler",
	}
}

// run lets time pass, and returns the story of it.
func (r *kubeletRig) run(d time.Duration) []string {
	r.Helper()
	r.story = nil
	if err := r.Run(r.Now() + d); err != nil {
		r.Fatal(err)
	}
	return r.story
}

// wants compares a story with what a test says that it is.
func (r *kubeletRig) wants(got []string, want string) {
	r.Helper()
	var lines []string
	for _, line := range strings.Split(want, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	for i := 0; i < max(len(got), len(lines)); i++ {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(lines) {
			w = lines[i]
		}
		if g != w {
			r.Errorf("line %d:\n got %s\nwant %s\nall:\n%s", i+1, g, w, strings.Join(got, "\n"))
			return
		}
	}
}

// note writes an event to the tape, and a line of the story.
func (r *kubeletRig) note(ev timeline.Event) error {
	if err := r.w.WriteLine(ev); err != nil {
		return err
	}
	if r.quiet {
		return nil
	}
	name := ev.Name
	if ev.Resource == "events" {
		name, _, _ = strings.Cut(ev.Name, ".")
	}
	name, _, _ = strings.Cut(name, ".")
	body := ev.Object
	if body == nil {
		body = ev.Patch
	}
	r.story = append(r.story, strings.TrimRight(fmt.Sprintf("%v %s %s %s %s",
		ev.At.Round(10*time.Millisecond), strings.ToLower(string(ev.Type)), strings.TrimSuffix(ev.Resource, "s"), name, digest(ev.Resource, body)), " "))
	return nil
}

// digest is what a line tells of an object or a patch.
func digest(resource string, body []byte) string {
	var o struct {
		Metadata struct {
			DeletionGracePeriodSeconds *int
		}
		Reason, Message, Type string
		Count                 int
		Spec                  struct {
			Taints []struct{ Key, Effect string }
		}
		Status struct {
			Phase, Reason, PodIP                     string
			Conditions                               []struct{ Type, Status, Reason string }
			NodeInfo                                 struct{ BootID string }
			ContainerStatuses, InitContainerStatuses []struct {
				RestartCount int
				State        map[string]struct {
					Reason   string
					ExitCode int
				}
			}
		}
	}
	if len(body) == 0 {
		return ""
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return err.Error()
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if resource == "events" {
		if o.Reason != "" {
			add("%s %s: %s", o.Type, o.Reason, o.Message)
		} else {
			add("x%d", o.Count)
		}
		return strings.Join(out, " ")
	}
	if g := o.Metadata.DeletionGracePeriodSeconds; g != nil {
		add("grace=%d", *g)
	}
	for _, t := range o.Spec.Taints {
		add("%s:%s", t.Key[strings.LastIndex(t.Key, "/")+1:], t.Effect)
	}
	if o.Status.Phase != "" {
		add("%s", o.Status.Phase)
	}
	if o.Status.Reason != "" {
		add("(%s)", o.Status.Reason)
	}
	for _, c := range o.Status.Conditions {
		if resource == "nodes" && c.Type != "Ready" && c.Status == "False" {
			continue
		}
		switch c.Type {
		case "ContainersReady", "PodScheduled", "Initialized":
			continue
		}
		add("%s=%s", c.Type, c.Status)
		if c.Reason != "" && c.Status != "True" {
			out[len(out)-1] += "/" + c.Reason
		}
	}
	if o.Status.PodIP != "" {
		add("%s", o.Status.PodIP)
	}
	for i, c := range slices.Concat(o.Status.InitContainerStatuses, o.Status.ContainerStatuses) {
		for kind, s := range c.State {
			line := kind
			if i < len(o.Status.InitContainerStatuses) {
				line = "init:" + kind
			}
			if s.Reason != "" {
				line += "/" + s.Reason
			}
			if kind == "terminated" {
				line += fmt.Sprintf("/%d", s.ExitCode)
			}
			if c.RestartCount > 0 {
				line += fmt.Sprintf("/restarts=%d", c.RestartCount)
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

// readBack reads the tape to its end.
func (r *kubeletRig) readBack() []timeline.Event {
	r.Helper()
	if err := r.w.Write(timeline.Event{At: r.Now(), Type: timeline.End}); err != nil {
		r.Fatal(err)
	}
	rd, err := timeline.NewReader(&r.tape)
	if err != nil {
		r.Fatal(err)
	}
	var all []timeline.Event
	for ev, err := range rd.All() {
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, ev)
	}
	if !rd.Complete() {
		r.Fatal("the tape is not complete")
	}
	return all
}

type (
	nodeType = kube.Node
	traits   = component.PodTraits
)

// eventObject is what tests ask of an event.
type eventObject struct {
	InvolvedObject struct{ UID, APIVersion, FieldPath string }
	Reason, Message, ReportingComponent,
	Action, EventTime string
}

func decode(t testing.TB, object []byte) eventObject {
	t.Helper()
	var e eventObject
	if err := json.Unmarshal(object, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func fixed(d time.Duration) model.Dist { return model.Fixed(d) }
