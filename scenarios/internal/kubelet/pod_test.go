package kubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// TestPodLife follows a pod from its binding to its deletion, and another one
// whose image is there already.
func TestPodLife(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	r.run(time.Second)
	p := r.pod("web-1", n.Name, web())
	r.wants(r.run(time.Minute), `
		1.3s modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating
		1.9s added event web-1 Normal Pulling: Pulling image "registry.example/web:1"
		6.47s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:1" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		6.77s added event web-1 Normal Created: Created container: web
		6.77s added event web-1 Normal Started: Started container web
		7.05s modified pod web-1 Running PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running
		11.05s modified pod web-1 PodReadyToStartContainers=True Ready=True running`)
	r.pod("web-2", n.Name, web())
	r.wants(r.run(time.Minute), `
		1m1.3s modified pod web-2 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating
		1m1.9s added event web-2 Normal Pulled: Container image "registry.example/web:1" already present on machine
		1m2.2s added event web-2 Normal Created: Created container: web
		1m2.2s added event web-2 Normal Started: Started container web
		1m2.48s modified pod web-2 Running PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.2 running
		1m6.48s modified pod web-2 PodReadyToStartContainers=True Ready=True running`)
	r.API.DeletePod(p, kube.OwnGrace)
	r.wants(r.run(time.Minute), `
		2m1.55s added event web-1 Normal Killing: Stopping container web
		2m3.9s modified pod web-1 Succeeded PodReadyToStartContainers=False Ready=False/PodCompleted terminated/Completed/0
		2m5.15s modified pod web-1 grace=0
		2m5.15s deleted pod web-1
		2m40s modified node ip-10-0-0-10 Ready=True`)
	if r.group.FreeIPs != 999 {
		t.Errorf("%d addresses are free, want all but one", r.group.FreeIPs)
	}
	r.readBack()
}

// On a busy machine a live run's clock can lag that of its API server.
func TestPodCreatedInItsFuture(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := &kube.Pod{Template: web(), NodeName: n.Name, Phase: "Pending"}
	p.Namespace, p.Name, p.Generation = "default", "web-1", 1
	p.Created = r.API.Now().Add(time.Hour).Second()
	if err := r.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	r.run(time.Minute)
	if p.Started != p.Created {
		t.Errorf("started at %d, created at %d", p.Started, p.Created)
	}
}

// TestQuickPod is ready within a second: one write says both.
func TestQuickPod(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	quick := web()
	quick.Workload = &traits{}
	quick.Containers = append(quick.Containers, kube.ContainerSpec{Name: "proxy", Image: "registry.example/proxy:1"})
	r.pod("web-1", n.Name, quick)
	r.wants(r.run(time.Minute), `
		300ms modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating waiting/ContainerCreating
		900ms added event web-1 Normal Pulling: Pulling image "registry.example/web:1"
		5.47s added event web-1 Normal Pulled: Successfully pulled image "registry.example/web:1" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		5.77s added event web-1 Normal Created: Created container: web
		5.77s added event web-1 Normal Started: Started container web
		5.77s added event web-1 Normal Pulling: Pulling image "registry.example/proxy:1"
		6.05s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running waiting/ContainerCreating
		10.35s added event web-1 Normal Pulled: Successfully pulled image "registry.example/proxy:1" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		10.65s added event web-1 Normal Created: Created container: proxy
		10.65s added event web-1 Normal Started: Started container proxy
		10.92s modified pod web-1 Running PodReadyToStartContainers=True Ready=True running running`)
}

// TestGraceRunsOut kills a container that doesn't stop; a second delete can only
// hurry that.
func TestGraceRunsOut(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	stubborn := web()
	stubborn.Workload = &traits{NeverStops: true}
	slow, hurried := r.runningPod("slow", n.Name, stubborn), r.runningPod("hurried", n.Name, stubborn)
	r.API.DeletePod(slow, kube.OwnGrace)
	r.API.DeletePod(hurried, kube.OwnGrace)
	r.run(5 * time.Second)
	r.API.DeletePod(hurried, 3)
	r.wants(r.run(time.Minute), `
		8.35s modified pod hurried Failed PodReadyToStartContainers=False Ready=False/PodFailed terminated/Error/137
		9.6s modified pod hurried grace=0
		9.6s deleted pod hurried
		30.9s modified pod slow Failed PodReadyToStartContainers=False Ready=False/PodFailed terminated/Error/137
		32.15s modified pod slow grace=0
		32.15s deleted pod slow`)
}

// TestDeletedBeforeItRuns ends a pod whose image is being pulled.
func TestDeletedBeforeItRuns(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.pod("web-1", n.Name, web())
	r.run(2 * time.Second)
	r.API.DeletePod(p, kube.OwnGrace)
	r.wants(r.run(time.Minute), `
		2.9s modified pod web-1 Failed PodReadyToStartContainers=False Ready=False/PodFailed terminated/ContainerStatusUnknown/137
		4.15s modified pod web-1 grace=0
		4.15s deleted pod web-1`)
	if r.group.FreeIPs != 1000 {
		t.Errorf("%d addresses are free, want all", r.group.FreeIPs)
	}
}

// TestForced has a pod's object go at once: its containers follow.
func TestForced(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.API.DeletePod(p, 0)
	r.wants(r.run(time.Minute), `
		550ms added event web-1 Normal Killing: Stopping container web`)
}

// TestFinalizer holds a pod whose containers are long gone.
func TestFinalizer(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", true) })
	r.API.DeletePod(p, kube.OwnGrace)
	r.run(time.Minute)
	if p.Gone() || p.Grace != 0 || p.Phase != "Succeeded" {
		t.Errorf("gone %v, grace %d, phase %s", p.Gone(), p.Grace, p.Phase)
	}
	r.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", false) })
	if !p.Gone() {
		t.Error("nothing holds the pod, and it is still there")
	}
	r.run(time.Minute)
	r.readBack()
}

// TestPull backs off from an image that isn't there, ever longer, and pulls it
// when it is.
func TestPull(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	mend := r.Cloud.Registry.Break("registry.example/web:1", "not found", 0)
	p := r.pod("web-1", n.Name, web())
	r.wants(r.run(30*time.Second), `
		300ms modified pod web-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating
		900ms added event web-1 Normal Pulling: Pulling image "registry.example/web:1"
		1.6s added event web-1 Warning Failed: Failed to pull image "registry.example/web:1": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/web:1": failed to resolve reference "registry.example/web:1": registry.example/web:1: not found
		1.6s added event web-1 Warning Failed: Error: ErrImagePull
		1.6s modified pod web-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 waiting/ErrImagePull
		2.3s added event web-1 Normal BackOff: Back-off pulling image "registry.example/web:1"
		2.3s added event web-1 Warning Failed: Error: ImagePullBackOff
		2.3s modified pod web-1 waiting/ImagePullBackOff
		14.8s modified event web-1 x2
		15.5s modified event web-1 x2
		15.5s modified event web-1 x2
		15.5s modified pod web-1 waiting/ErrImagePull
		28s modified event web-1 x2
		28s modified event web-1 x2
		28s modified pod web-1 waiting/ImagePullBackOff`)
	want := `Back-off pulling image "registry.example/web:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image ` +
		`"registry.example/web:1": failed to resolve reference "registry.example/web:1": registry.example/web:1: not found`
	if got := p.Containers[0].State.Message; got != want {
		t.Errorf("message %s", got)
	}
	r.run(20 * time.Minute)
	pulls := 0
	for _, line := range r.run(time.Hour) {
		if strings.Contains(line, "waiting/ErrImagePull") {
			pulls++
		}
	}
	if pulls < 10 || pulls > 12 {
		t.Errorf("%d pulls in an hour, want one every five minutes", pulls)
	}
	mend()
	r.run(10 * time.Minute)
	if !p.Ready() {
		t.Error("the pod isn't ready")
	}
	r.readBack()
}

// TestBrokenOnNewMachines pulls where the image is, and fails elsewhere.
func TestBrokenOnNewMachines(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	_, m := r.seed()
	r.Cloud.Registry.Break("registry.example/web:1", "unauthorized", 1)
	old, fresh := r.pod("web-1", n.Name, web()), r.pod("web-2", m.Name, web())
	r.run(15 * time.Minute)
	if !old.Ready() || fresh.Ready() || !strings.Contains(fresh.Containers[0].State.Message, "unauthorized") {
		t.Errorf("ready %v and %v: %+v", old.Ready(), fresh.Ready(), fresh.Containers)
	}
}

// TestNoAddresses leaves pods without a sandbox until there are some again.
func TestNoAddresses(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	r.group.FreeIPs = 1
	first, second := r.pod("web-1", n.Name, web()), r.pod("web-2", n.Name, web())
	onHost := web()
	onHost.HostNetwork = true
	third := r.pod("web-3", n.Name, onHost)
	got := r.run(2 * time.Minute)
	if !first.Ready() || second.Phase != "Pending" || !third.Ready() {
		t.Fatalf("ready %v, phase %s, ready %v", first.Ready(), second.Phase, third.Ready())
	}
	if third.PodIP != third.HostIP || first.PodIP == first.HostIP {
		t.Errorf("addresses %s and %s on %s", first.PodIP, third.PodIP, first.HostIP)
	}
	failures := strings.Count(strings.Join(got, "\n"), `plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`)
	if failures < 3 {
		t.Errorf("%d failures: %v", failures, got)
	}
	r.API.DeletePod(first, kube.OwnGrace)
	r.run(time.Minute)
	if !second.Ready() || r.group.FreeIPs != 0 {
		t.Errorf("ready %v with %d free addresses", second.Ready(), r.group.FreeIPs)
	}
}

// TestNoNetworkYet has a pod wait for the node's network plugin, and the
// plugin's own not.
func TestNoNetworkYet(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i := r.launch()
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.CNIBroken = true })
	r.run(time.Minute)
	onHost := web()
	onHost.HostNetwork = true
	plugin, csi := r.pod("aws-node", i.Name, onHost), r.pod("ebs-csi-node", i.Name, web())
	got := strings.Join(r.run(time.Minute), "\n")
	if !plugin.Ready() || csi.Phase != "Pending" {
		t.Errorf("ready %v, phase %s", plugin.Ready(), csi.Phase)
	}
	if !strings.Contains(got, "Warning NetworkNotReady: network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady") {
		t.Errorf("no event: %s", got)
	}
}

// TestVolume starts a pod once its volume is on its machine, and complains while
// it isn't.
func TestVolume(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i, n := r.seed()
	data := web()
	data.Volume = "data"
	p := &kube.Pod{Template: data, NodeName: n.Name, Phase: "Pending", Claim: "data-0"}
	p.Namespace, p.Name = "default", "db-0"
	if err := r.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	r.wants(r.run(130*time.Second), `
		300ms modified pod db-0 PodReadyToStartContainers=False Ready=False/ContainersNotReady waiting/ContainerCreating
		2m3.3s added event db-0 Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded`)
	r.Cloud.Volumes.Attach("default/data-0", i.ID)
	r.wants(r.run(10*time.Second), `
		2m11.53s added event db-0 Normal Pulling: Pulling image "registry.example/web:1"
		2m16.1s added event db-0 Normal Pulled: Successfully pulled image "registry.example/web:1" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		2m16.4s added event db-0 Normal Created: Created container: web
		2m16.4s added event db-0 Normal Started: Started container web
		2m16.67s modified pod db-0 Running PodReadyToStartContainers=True Ready=False/ContainersNotReady 100.64.0.1 running`)
}

// TestUntil127 has a kubelet that deletes a pod without a last phase.
func TestUntil127(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.26.9"})
	_, n := r.seed()
	p := r.runningPod("web-1", n.Name, web())
	r.API.DeletePod(p, kube.OwnGrace)
	r.run(time.Minute)
	if !p.Gone() || p.Phase != "Running" || p.Conditions.Get("PodReadyToStartContainers") != nil {
		t.Errorf("gone %v in phase %s", p.Gone(), p.Phase)
	}
}

// TestObservedGeneration is in every status since 1.34.
func TestObservedGeneration(t *testing.T) {
	r := newKubeletRig(t, rigOptions{version: "v1.34.1"})
	_, n := r.seed()
	for _, p := range []*kube.Pod{r.pod("web-1", n.Name, web()), r.runningPod("web-2", n.Name, web())} {
		r.run(time.Minute)
		for _, c := range p.Conditions {
			if c.Observed != 1 {
				t.Errorf("%s: %+v", p.Name, c)
			}
		}
		if p.ObservedGeneration != 1 || !p.Ready() {
			t.Errorf("%s: observed %d, ready %v", p.Name, p.ObservedGeneration, p.Ready())
		}
	}
}

// TestJobEnds has a pod that ends by itself.
func TestJobEnds(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	_, n := r.seed()
	job := web()
	run := fixed(time.Minute)
	job.Workload, job.RestartPolicy = &traits{Run: &run}, "Never"
	p := r.pod("job-1", n.Name, job)
	r.run(5 * time.Minute)
	if p.Phase != "Succeeded" || p.Containers[0].State.ExitCode != 0 || p.Conditions.Get("Ready").Reason != "PodCompleted" {
		t.Errorf("phase %s: %+v", p.Phase, p.Containers)
	}
}
