package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// bench is a scheduler in a world.
type bench struct {
	sched   *scheduler.Scheduler
	decides func(context.Context, framework.Framework, fwk.CycleState, *framework.QueuedPodInfo) (scheduler.ScheduleResult, error)
	free    bool
	placed  map[string]*corev1.Pod
	mu      sync.Mutex
	victims map[string]bool // of the pod that is scheduled
}

// errDecided ends a scheduling cycle once a node is chosen: nothing is bound.
var errDecided = errors.New("a node is chosen")

// judge schedules the pods that wait in a world.
func judge(ctx context.Context, w *World) (verdicts []Verdict, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &bench{free: w.Free, placed: map[string]*corev1.Pod{}}
	if err := b.start(ctx, w); err != nil {
		return nil, err
	}
	for i := range w.Placed {
		b.placed[name(&w.Placed[i])] = &w.Placed[i]
	}
	for i := range w.Waiting {
		v, err := b.decide(ctx, &w.Waiting[i], i)
		if err != nil {
			return verdicts, fmt.Errorf("pod %s: %w", name(&w.Waiting[i]), err)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

func name(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// start starts a scheduler, and returns when it knows the world.
func (b *bench) start(ctx context.Context, w *World) error {
	client := fake.NewSimpleClientset(w.objects()...)
	// A preemption patches a victim's status, and deletes it.
	note := func(action clienttesting.Action) (bool, runtime.Object, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch a := action.(type) {
		case clienttesting.DeleteAction:
			b.victims[a.GetNamespace()+"/"+a.GetName()] = true
		case clienttesting.PatchAction:
			b.victims[a.GetNamespace()+"/"+a.GetName()] = true
		}
		return true, &corev1.Pod{}, nil
	}
	client.PrependReactor("delete", "pods", note)
	client.PrependReactor("patch", "pods", note)
	factory := scheduler.NewInformerFactory(client, 0)
	var options []scheduler.Option
	if !b.free { // in a free world several at a time look at nodes, as by default
		options = append(options, scheduler.WithParallelism(1))
	}
	var err error
	b.sched, err = scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }, options...)
	if err != nil {
		return fmt.Errorf("start kube-scheduler: %w", err)
	}
	b.decides = b.sched.SchedulePod
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := b.sched.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("wait until kube-scheduler knows the world: %w", err)
	}
	return b.untilVolumes(ctx, w)
}

// untilVolumes waits until the cache of the plugin VolumeBinding, whose handlers nobody can ask, has all claims and
// volumes. It says of a pod what it lacks.
func (b *bench) untilVolumes(ctx context.Context, w *World) error {
	fw, node := b.sched.Profiles[corev1.DefaultSchedulerName], framework.NewNodeInfo()
	node.SetNode(&corev1.Node{})
	for i := range w.Claims {
		probe := &corev1.Pod{}
		probe.Namespace, probe.Name = w.Claims[i].Namespace, "probe"
		probe.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: w.Claims[i].Name}}}}
		err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			state := framework.NewCycleState()
			if _, status, _ := fw.RunPreFilterPlugins(ctx, state, probe); !status.IsSuccess() {
				return status.IsRejected(), nil
			}
			status := fw.RunFilterPlugins(ctx, state, probe, node)
			return status.Code() != fwk.Error && !slices.Contains(status.Reasons(), "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"), nil
		})
		if err != nil {
			return fmt.Errorf("wait until kube-scheduler knows the claim %s/%s: %w", w.Claims[i].Namespace, w.Claims[i].Name, err)
		}
	}
	return nil
}

// decide schedules a pod. Of several best nodes kube-scheduler takes any; here turn chooses, so that a world develops the
// same way each time, unless it is free.
func (b *bench) decide(ctx context.Context, pod *corev1.Pod, turn int) (v Verdict, err error) {
	queued := &framework.QueuedPodInfo{}
	if queued.PodInfo, err = framework.NewPodInfo(pod); err != nil {
		return v, err
	}
	fw := b.sched.Profiles[corev1.DefaultSchedulerName]
	for _, plugin := range fw.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(ctx, pod); !status.IsSuccess() {
			return Verdict{Gated: true}, nil
		}
	}
	b.victims = map[string]bool{}
	b.sched.NextPod = func(klog.Logger) (*framework.QueuedPodInfo, error) { return queued, nil }
	b.sched.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		if !b.free {
			if err = v.look(ctx, fw, pod); err != nil {
				return scheduler.ScheduleResult{}, err
			}
		}
		result, failure := b.decides(ctx, fw, state, info)
		if failure != nil {
			return result, failure
		}
		v.Node, v.Found = result.SuggestedHost, result.FeasibleNodes
		if b.free {
			return result, errDecided
		}
		best := v.best()
		if !slices.Contains(best, result.SuggestedHost) {
			err = fmt.Errorf("kube-scheduler chose %s, which isn't one of the best, %v", result.SuggestedHost, best)
		}
		v.Node = best[turn%len(best)]
		return result, errDecided
	}
	b.sched.FailureHandler = func(_ context.Context, _ framework.Framework, _ *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, _ time.Time) {
		if v.Node != "" {
			return
		}
		v.Message = status.Message()
		if nominating != nil {
			v.Nominated = nominating.NominatedNodeName
		}
	}
	b.sched.ScheduleOne(ctx)
	if err != nil {
		return v, err
	}
	return v, b.follow(ctx, pod, &v)
}

// follow brings the world to what a verdict says.
func (b *bench) follow(ctx context.Context, pod *corev1.Pod, v *Verdict) error {
	logger := klog.FromContext(ctx)
	if v.Node != "" {
		runs := pod.DeepCopy()
		runs.Spec.NodeName, runs.Status.Phase = v.Node, corev1.PodRunning
		b.placed[name(runs)] = runs
		return b.sched.Cache.AddPod(logger, runs)
	}
	for victim := range b.victims {
		if victim == name(pod) {
			continue
		}
		v.Victims = append(v.Victims, victim)
		if err := b.sched.Cache.RemovePod(logger, b.placed[victim]); err != nil {
			return err
		}
	}
	slices.Sort(v.Victims)
	return nil
}

// best are the feasible nodes with the highest score, sorted.
func (v *Verdict) best() (names []string) {
	top := int64(-1)
	for _, name := range v.Feasible {
		switch total := v.Totals[name]; {
		case total > top:
			top, names = total, []string{name}
		case total == top:
			names = append(names, name)
		}
	}
	return names
}

// look asks the filters and the scores of all nodes, which kube-scheduler doesn't tell.
func (v *Verdict) look(ctx context.Context, fw framework.Framework, pod *corev1.Pod) error {
	state := framework.NewCycleState()
	only, status, _ := fw.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		if status.IsRejected() {
			return nil
		}
		return status.AsError()
	}
	nodes, err := fw.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return err
	}
	var feasible []fwk.NodeInfo
	for _, n := range nodes {
		if !only.AllNodes() && !only.NodeNames.Has(n.Node().Name) {
			continue
		}
		switch status := fw.RunFilterPluginsWithNominatedPods(ctx, state, pod, n); {
		case status.IsSuccess():
			feasible = append(feasible, n)
			v.Feasible = append(v.Feasible, n.Node().Name)
		case status.Code() == fwk.Error:
			return status.AsError()
		}
	}
	slices.Sort(v.Feasible)
	if len(feasible) < 2 {
		return nil
	}
	if status := fw.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	scores, status := fw.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	v.Totals, v.Scores = map[string]int64{}, map[string]map[string]int64{}
	for _, s := range scores {
		v.Totals[s.Name], v.Scores[s.Name] = s.TotalScore, map[string]int64{}
		for _, one := range s.Scores {
			v.Scores[s.Name][one.Name] = one.Score
		}
	}
	return nil
}
