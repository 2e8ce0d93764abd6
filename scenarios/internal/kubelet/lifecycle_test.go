package kubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// once is a template of a pod whose containers end by themselves.
func once(policy string, ends ...kube.End) *kube.Template {
	t := web()
	t.RestartPolicy = policy
	t.Containers = nil
	for i, e := range ends {
		t.Containers = append(t.Containers, kube.ContainerSpec{Name: string(rune('a' + i)), Image: "registry.example/once:1", End: e})
	}
	return t
}

// TestAPodRunsToCompletion: one container after the other exits, and the pod with the last.
func TestAPodRunsToCompletion(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
	_, n := r.seed()
	p := r.pod("once", n.Name, once("Never", kube.End{After: 20 * time.Second}, kube.End{After: -1, Code: 3}))
	r.wants(pods(r.run(2*time.Minute)), `
		300ms modified pod once PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating waiting/ContainerCreating
		6.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running waiting/ContainerCreating
		6.35s modified pod once Running running running
		7.05s modified pod once running terminated/Error/3
		10.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady running terminated/Error/3
		26.82s modified pod once Failed PodReadyToStartContainers=False Ready=False/PodFailed terminated/Completed/0 terminated/Error/3`)
	if c := p.Conditions.Get("Initialized"); p.Phase != "Failed" || c.Reason != "" || p.Containers[1].State.ExitCode != 3 {
		t.Errorf("%s %+v %+v", p.Phase, p.Conditions, p.Containers)
	}
	r.readBack()
}

// TestAContainerIsRestartedOnFailure, each time later.
func TestAContainerIsRestartedOnFailure(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
	_, n := r.seed()
	r.pod("once", n.Name, once("OnFailure", kube.End{After: 2 * time.Second, Code: 1}))
	r.wants(pods(r.run(90*time.Second)), `
		300ms modified pod once PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating
		6.05s modified pod once Running PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running
		8.75s modified pod once terminated/Error/1
		9.05s modified pod once running/restarts=1
		11.75s modified pod once terminated/Error/1/restarts=1
		12.17s added event once Warning BackOff: Back-off restarting failed container a in pod once_default(00000000-0000-4000-8000-000000000002)
		12.45s modified pod once waiting/CrashLoopBackOff/restarts=1
		25.25s modified pod once running/restarts=2
		27.95s modified pod once terminated/Error/1/restarts=2
		28.65s modified pod once waiting/CrashLoopBackOff/restarts=2
		53.95s modified pod once running/restarts=3
		56.65s modified pod once terminated/Error/1/restarts=3
		57.35s modified pod once waiting/CrashLoopBackOff/restarts=3`)
	r.readBack()
}

// TestInitContainersComeFirst, in turn, and a sidecar goes on until the others have ended.
func TestInitContainersComeFirst(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
	_, n := r.seed()
	template := once("Never", kube.End{After: 10 * time.Second})
	template.Demands = &kube.Demands{Init: []kube.ContainerSpec{
		{Name: "first", Image: "registry.example/once:1", End: kube.End{After: 3 * time.Second}},
		{Name: "proxy", Image: "registry.example/once:1", Sidecar: true},
		{Name: "last", Image: "registry.example/once:1", End: kube.End{After: -1}},
	}}
	p := r.pod("once", n.Name, template)
	r.wants(pods(r.run(2*time.Minute)), `
		300ms modified pod once PodReadyToStartContainers=False Ready=False/ContainersNotReady init:waiting/PodInitializing init:waiting/PodInitializing init:waiting/PodInitializing waiting/PodInitializing
		6.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 init:running init:waiting/PodInitializing init:waiting/PodInitializing
		9.75s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady init:terminated/Completed/0 init:waiting/PodInitializing init:waiting/PodInitializing
		10.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady init:terminated/Completed/0 init:running init:waiting/PodInitializing
		10.35s modified pod once init:terminated/Completed/0 init:running init:running
		11.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady init:terminated/Completed/0 init:running init:terminated/Completed/0
		11.35s modified pod once Running running
		14.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady init:terminated/Completed/0 init:running init:terminated/Completed/0
		15.35s modified pod once PodReadyToStartContainers=True Ready=True running
		22.05s modified pod once PodReadyToStartContainers=True Ready=False/ContainersNotReady terminated/Completed/0
		24.12s modified pod once Succeeded PodReadyToStartContainers=False Ready=False/PodCompleted init:terminated/Completed/0 init:terminated/Completed/0 init:terminated/Completed/0`)
	if p.Phase != "Succeeded" {
		t.Errorf("%s %+v %+v", p.Phase, p.Init, p.Containers)
	}
	r.readBack()
}

// TestAFailedInitContainerEndsThePod that isn't to be restarted.
func TestAFailedInitContainerEndsThePod(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
	_, n := r.seed()
	template := once("Never", kube.End{})
	template.Demands = &kube.Demands{Init: []kube.ContainerSpec{{Name: "first", Image: "registry.example/once:1", End: kube.End{After: time.Second, Code: 1}}}}
	p := r.pod("once", n.Name, template)
	r.run(2 * time.Minute)
	if c := p.Containers[0].State; p.Phase != "Failed" || c.Kind != "waiting" || c.Reason != "PodInitializing" || p.Init[0].State.ExitCode != 1 {
		t.Errorf("%s %+v %+v", p.Phase, p.Init, p.Containers)
	}
	if c := p.Conditions.Get("Initialized"); c.Status != "False" || c.Message != "containers with incomplete status: [first]" {
		t.Errorf("%+v", p.Conditions)
	}
	r.readBack()
}

// TestADeadlineEndsAPod within its grace.
func TestADeadlineEndsAPod(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
	_, n := r.seed()
	template, deadline := web(), 30*time.Second
	template.Demands = &kube.Demands{Deadline: &deadline}
	p := r.pod("web-1", n.Name, template)
	said := strings.Join(r.run(2*time.Minute), "\n")
	if p.Phase != "Failed" || p.Reason != "DeadlineExceeded" || p.Conditions.Get("DisruptionTarget") != nil || !strings.Contains(said, "Normal DeadlineExceeded: Pod was active") {
		t.Errorf("%s %s %+v\n%s", p.Phase, p.Reason, p.Conditions, said)
	}
	r.readBack()
}

// TestReadinessGates hold a pod's readiness back, and no container's.
func TestReadinessGates(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
	_, n := r.seed()
	template := web()
	template.Demands = &kube.Demands{ReadinessGates: []string{"example.com/in-balance"}}
	p := r.pod("web-1", n.Name, template)
	r.run(time.Minute)
	if c := p.Conditions.Get("Ready"); p.Ready() || c.Message != `corresponding condition of pod readiness gate "example.com/in-balance" does not exist.` || p.Conditions.Get("ContainersReady").Status != "True" {
		t.Errorf("%+v", p.Conditions)
	}
	open := func(status string) {
		r.API.UpdatePod(p, func(p *kube.Pod) {
			p.Conditions = p.Conditions.Set(kube.Condition{Type: "example.com/in-balance", Status: status, Transition: r.API.Now().Second()})
		})
		r.run(10 * time.Second)
	}
	if open("True"); !p.Ready() {
		t.Errorf("%+v", p.Conditions)
	}
	if open("False"); p.Ready() {
		t.Errorf("%+v", p.Conditions)
	}
	r.readBack()
}

// TestALifeIsDeleted at any moment: its pod is gone after its grace at the latest.
func TestALifeIsDeleted(t *testing.T) {
	for after := 100 * time.Millisecond; after < 40*time.Second; after += 700 * time.Millisecond {
		r := newKubeletRig(t, rigOptions{version: "v1.36.0"})
		_, n := r.seed()
		template := once("OnFailure", kube.End{After: 10 * time.Second, Code: 1}, kube.End{After: 15 * time.Second})
		template.Demands = &kube.Demands{Init: []kube.ContainerSpec{
			{Name: "first", Image: "registry.example/once:1", End: kube.End{After: 3 * time.Second}},
			{Name: "proxy", Image: "registry.example/once:1", Sidecar: true},
		}}
		p := r.pod("once", n.Name, template)
		r.run(after)
		r.API.DeletePod(p, kube.OwnGrace)
		if r.run(40 * time.Second); !p.Gone() {
			t.Fatalf("deleted after %s, and there %s later: %s %+v %+v", after, 40*time.Second, p.Phase, p.Init, p.Containers)
		}
	}
}
