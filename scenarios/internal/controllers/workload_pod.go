package controllers

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// workload is the part that the controllers of all kinds share: the pods' template, their owner, and the one sync
// that may be waiting.
type workload struct {
	Workload
	env      *component.Env
	keeper   workloadController
	begun    bool
	uid      string      // of the workload's own object
	owner    *kube.Owner // of the pods: the ReplicaSet of a Deployment, else the workload; nil of a Pod
	template *kube.Template
	labels   kube.Pairs
	stream   model.Stream
	waiting  *loop.Timer
	names    []byte
}

func newWorkload(env *component.Env, w Workload) *workload {
	one := &workload{Workload: w, env: env, stream: env.Stream("workload", w.Namespace, w.Name)}
	one.uid = one.stream.UUID()
	hash := one.stream.TemplateHash()
	one.labels = w.Template.Labels
	one.owner = &kube.Owner{APIVersion: "apps/v1", Kind: string(w.Kind), Name: w.Name, UID: one.uid}
	restart := "Always"
	tolerations := w.Template.Tolerations
	switch w.Kind {
	case Deployment:
		one.owner = &kube.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: cmp.Or(w.replicaSet(), w.Name+"-"+hash), UID: one.stream.UUID()}
		one.labels = one.labels.With("pod-template-hash", strings.TrimPrefix(one.owner.Name, w.Name+"-"))
	case StatefulSet:
		one.labels = one.labels.With("controller-revision-hash", w.Name+"-"+hash)
	case DaemonSet:
		one.labels = one.labels.With("controller-revision-hash", hash).With("pod-template-generation", "1")
		tolerations = daemonTolerations(tolerations, w.Template.HostNetwork)
	case Job:
		// As pkg/apis/batch/v1 labels them.
		one.owner.APIVersion = "batch/v1"
		for _, prefix := range [...]string{"", "batch.kubernetes.io/"} {
			one.labels = one.labels.With(prefix+"controller-uid", one.uid).With(prefix+"job-name", w.Name)
		}
		restart = "Never"
	}
	generate := one.owner.Name + "-"
	if w.Kind == Pod {
		one.owner = nil
	}
	if own := w.Template.Written; own != nil {
		one.template = own.Copy()
		t := one.template
		t.GenerateName, t.RestartPolicy, t.Volume, t.Workload, t.Resizable = generate, restart, w.Template.Volume, w.Template.Traits, w.Template.Resizable
		t.Tolerations = defaultTolerations(tolerations, env.Timings.TaintToleration.Median())
		t.SchedulerName = cmp.Or(own.SchedulerName, component.SchedulerName)
		return one
	}
	one.template = &kube.Template{
		GenerateName: generate, Containers: w.Template.Containers, GraceSeconds: w.Template.GraceSeconds,
		NodeSelector: w.Template.NodeSelector, Tolerations: defaultTolerations(tolerations, env.Timings.TaintToleration.Median()),
		Spread: w.Template.Spread, Priority: w.Template.Priority, PriorityClass: w.Template.PriorityClass,
		SchedulerName: cmp.Or(w.Template.SchedulerName, component.SchedulerName), RestartPolicy: restart, HostNetwork: w.Template.HostNetwork,
		Volume: w.Template.Volume, Workload: w.Template.Traits, Resizable: w.Template.Resizable,
	}
	return one
}

// replicaSet is the name of a Deployment's ReplicaSet as its pods' names have it: all but their last part. It is empty where no
// pod that is there says.
func (w *Workload) replicaSet() string {
	if w.Kind != Deployment {
		return ""
	}
	for i := range w.Placed {
		if name, _, is := cutLast(w.Placed[i].Name, '-'); is && strings.HasPrefix(name, w.Name+"-") {
			return name
		}
	}
	return ""
}

func cutLast(s string, at byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, at)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// defaultTolerations adds what the admission DefaultTolerationSeconds does: five minutes of not-ready and
// unreachable, after the others, each unless the pod says something of it itself.
func defaultTolerations(own []kube.Toleration, seconds time.Duration) []kube.Toleration {
	all := own[:len(own):len(own)]
	for _, key := range [...]string{component.TaintNotReady, component.TaintUnreachable} {
		said := false
		for _, t := range own {
			said = said || (t.Key == key || t.Key == "") && (t.Effect == component.EffectNoExecute || t.Effect == "")
		}
		if !said {
			all = append(all, kube.Toleration{Key: key, Operator: "Exists", Effect: component.EffectNoExecute, Seconds: int64(seconds / time.Second)})
		}
	}
	return all
}

// pod makes a pod, pending and bound nowhere.
func (w *workload) pod(name string) *kube.Pod {
	p := &kube.Pod{
		Meta: kube.Meta{
			Namespace: w.Namespace, Name: name, Labels: w.labels, Annotations: w.Template.Annotations,
			Finalizers: w.Template.Finalizers, Owner: w.owner,
		},
		Template: w.template, Phase: "Pending", Gated: w.Template.Gated,
	}
	if w.env.Version.PodGeneration() {
		p.Generation = 1
	}
	if w.Template.Volume != "" {
		p.Claim = w.Template.Volume + "-" + name
	}
	return p
}

// generated makes a pod with a name that the API server makes up, one that is
// free.
func (w *workload) generated() *kube.Pod {
	for {
		w.names = append(w.names[:0], w.template.GenerateName...)
		w.names = w.stream.AppendSuffix(w.names, 5)
		if name := string(w.names); w.env.API.Pod(w.Namespace, name) == nil {
			return w.pod(name)
		}
	}
}

// react has the controller look at its pods after its reaction time, unless it
// is about to anyway.
func (w *workload) react(sync func()) {
	if !w.waiting.Pending() {
		w.waiting = w.env.Timer(w.env.Draw(&w.stream, w.env.Timings.ControllerReact), sync)
	}
}

// about is the reference of the pods' owner. Its version moves with every change of its status; the API server's own
// is used instead.
func (w *workload) about() kube.Reference {
	return kube.Reference{
		APIVersion: w.owner.APIVersion, Kind: w.owner.Kind, Namespace: w.Namespace, Name: w.owner.Name, UID: w.owner.UID,
		ResourceVersion: strconv.FormatUint(w.env.API.Version(), 10),
	}
}
