package kubelet_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// TestAnyTrouble does random things to a few machines and pods, reads
// the tape of it back, and asks of every state what always holds. Once all is
// mended, all that is left has to come to rest.
func TestAnyTrouble(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anyTrouble(t, rand.New(rand.NewPCG(seed, 5))) })
	}
}

func anyTrouble(t *testing.T, chance *rand.Rand) {
	versions := []string{"v1.26.9", "v1.31.2", "v1.33.5", "v1.34.1", "v1.36.0"}
	r := newKubeletRig(t, rigOptions{jitter: 100, version: versions[chance.IntN(len(versions))]})
	r.quiet = true
	var machines []*cloud.Instance
	var pods []*kube.Pod
	kinds := []*kube.Template{web(), web(), web(), web()}
	kinds[1].HostNetwork = true
	kinds[2].Workload = &traits{NeverStops: true}
	kinds[2].Containers = append(kinds[2].Containers, kube.ContainerSpec{Name: "proxy", Image: "registry.example/proxy:1"})
	leaky := &traits{}
	kinds[3].Workload = leaky
	kinds[3].Priority = 2_000_000_000 * int32(chance.IntN(2))
	seeded := 0
	for range 3 {
		i, n := r.seed()
		machines = append(machines, i)
		for range 3 {
			kind := kinds[chance.IntN(len(kinds))]
			pods = append(pods, r.runningPod(fmt.Sprintf("seed-%d", len(pods)), n.Name, kind))
			if !kind.HostNetwork {
				seeded++
			}
		}
	}
	var mends []func()
	some := func() *cloud.Instance { return machines[chance.IntN(len(machines))] }
	pod := func() *kube.Pod { return pods[chance.IntN(len(pods))] }
	for range 60 {
		r.run(time.Duration(chance.Int64N(int64(40 * time.Second))))
		i := some()
		n := r.API.Node(i.Name)
		switch chance.IntN(14) {
		case 0:
			machines = append(machines, r.launch())
		case 1, 2, 3:
			if n != nil {
				pods = append(pods, r.pod(fmt.Sprintf("pod-%d", len(pods)), n.Name, kinds[chance.IntN(len(kinds))]))
			}
		case 4, 5:
			if p := pod(); chance.IntN(3) == 0 {
				r.API.DeletePod(p, int64(chance.IntN(4)))
			} else {
				r.API.DeletePod(p, kube.OwnGrace)
			}
		case 6, 7:
			which := chance.IntN(6)
			r.Cloud.Ail(i, func(a *cloud.Ailments) {
				flag := []*bool{&a.CutOff, &a.KubeletDown, &a.RuntimeDown, &a.CNIBroken, &a.NeverPosts, &a.UserDataFail}[which]
				*flag = !*flag
			})
		case 8:
			r.Cloud.Restart(i, i.Template)
		case 9:
			switch chance.IntN(4) {
			case 0:
				r.Cloud.Terminate(i, true)
			case 1:
				r.Cloud.Kill(i, false)
			}
		case 10:
			if n != nil {
				r.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = !n.Unschedulable })
			}
		case 11:
			mends = append(mends, r.Cloud.Registry.Break("registry.example/proxy:1", "not found", chance.IntN(3)))
		case 12:
			if n != nil && chance.IntN(3) == 0 {
				r.API.DeleteNode(n)
			}
		case 13:
			r.k.Leak(leaky, chance.Int64N(2<<30))
		}
	}
	for _, i := range machines {
		r.Cloud.Ail(i, func(a *cloud.Ailments) { *a = cloud.Ailments{Dead: a.Dead} })
	}
	for _, mend := range mends {
		mend()
	}
	leaky.LeakPerMinute = 0
	r.run(2 * time.Hour)

	held, at := 0, map[string]string{}
	for _, p := range pods {
		i := r.Cloud.ByNode(p.NodeName)
		n := r.API.Node(p.NodeName)
		if p.Gone() || i.State != cloud.Running || n == nil || i.Ailments.Dead {
			if i.State != cloud.Terminated && !p.Gone() && !p.Terminal() && !p.Template.HostNetwork && p.PodIP != "" {
				held++
			}
			continue
		}
		switch {
		case p.Terminating():
			t.Errorf("%s on %s is still being deleted, in phase %s", p.Name, p.NodeName, p.Phase)
		case p.Terminal():
		case !p.Ready():
			t.Errorf("%s on %s isn't ready, in phase %s: %+v", p.Name, p.NodeName, p.Phase, p.Containers)
		case !p.Template.HostNetwork:
			held++
			if other := at[p.PodIP]; other != "" {
				t.Errorf("%s and %s both have %s", p.Name, other, p.PodIP)
			}
			at[p.PodIP] = p.Name
		}
	}

	if free := r.group.FreeIPs; free != 1000+seeded-held {
		t.Errorf("%d addresses are free, want %d: %d seeded, %d held", free, 1000+seeded-held, seeded, held)
	}
	for _, n := range r.API.Nodes() {
		i := r.Cloud.ByNode(n.Name)
		if i.State == cloud.Running && !i.Ailments.Dead && !n.Ready() {
			t.Errorf("node %s isn't ready: %+v", n.Name, n.Conditions)
		}
	}
	s := sanity{TB: t, pods: map[string]*corev1.Pod{}}
	for _, ev := range r.readBack() {
		s.look(ev)
	}
}

// sanity asks of every state of an object what always holds.
type sanity struct {
	testing.TB
	pods map[string]*corev1.Pod
}

func (s *sanity) look(ev timeline.Event) {
	if ev.Type != timeline.Added && ev.Type != timeline.Modified || len(ev.Object) == 0 {
		return
	}
	now := rigStart.Add(ev.At)
	wrong := func(format string, args ...any) {
		s.Errorf("%v %s %s: %s", ev.At, ev.Type, ev.Name, fmt.Sprintf(format, args...))
	}
	switch ev.Resource {
	case "nodes":
		var n corev1.Node
		if err := json.Unmarshal(ev.Object, &n); err != nil {
			wrong("%v", err)
			return
		}
		for _, c := range n.Status.Conditions {
			if c.LastTransitionTime.After(c.LastHeartbeatTime.Time) || c.LastHeartbeatTime.After(now) {
				wrong("%s: transition %v, heartbeat %v", c.Type, c.LastTransitionTime, c.LastHeartbeatTime)
			}
		}
		if c := n.Status.Conditions; c[len(c)-1].Type != corev1.NodeReady {
			wrong("the last condition is %s", c[len(c)-1].Type)
		}
	case "pods":
		var p corev1.Pod
		if err := json.Unmarshal(ev.Object, &p); err != nil {
			wrong("%v", err)
			return
		}
		old := s.pods[ev.UID]
		s.pods[ev.UID] = &p
		ready := false
		for _, c := range p.Status.Conditions {
			ready = ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			if c.LastTransitionTime.After(now) {
				wrong("%s will change at %v", c.Type, c.LastTransitionTime)
			}
		}
		all := len(p.Status.ContainerStatuses) == len(p.Spec.Containers)
		for _, c := range p.Status.ContainerStatuses {
			all = all && c.Ready && c.State.Running != nil
			if c.State.Terminated != nil && c.State.Terminated.FinishedAt.Before(&c.State.Terminated.StartedAt) {
				wrong("%s ended before it started: %+v", c.Name, c.State.Terminated)
			}
			if c.Ready && c.State.Running == nil {
				wrong("%s is ready and doesn't run: %+v", c.Name, c.State)
			}
		}
		if ready && (!all || p.Status.Phase != corev1.PodRunning || p.Status.PodIP == "") {
			wrong("ready in phase %s with %+v", p.Status.Phase, p.Status.ContainerStatuses)
		}
		if old == nil {
			return
		}
		ended := old.Status.Phase == corev1.PodFailed || old.Status.Phase == corev1.PodSucceeded
		if ended && p.Status.Phase != old.Status.Phase {
			wrong("from %s to %s", old.Status.Phase, p.Status.Phase)
		}
		if old.Status.Phase == corev1.PodRunning && p.Status.Phase == corev1.PodPending {
			wrong("from Running to Pending")
		}
		for i, c := range p.Status.ContainerStatuses {
			if i < len(old.Status.ContainerStatuses) && c.RestartCount < old.Status.ContainerStatuses[i].RestartCount {
				wrong("%s: restarts from %d to %d", c.Name, old.Status.ContainerStatuses[i].RestartCount, c.RestartCount)
			}
		}
	}
}
