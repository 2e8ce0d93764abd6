package kubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// TestNetworkPluginCrashes where its machine's network can't be brought up: held
// back ever longer, and well once it can.
func TestNetworkPluginCrashes(t *testing.T) {
	r := newKubeletRig(t, rigOptions{})
	i := r.launch()
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.CNIBroken = true })
	r.run(time.Minute)
	plugin := web()
	plugin.HostNetwork = true
	plugin.Workload = &traits{NetworkPlugin: true}
	plugin.Containers = []kube.ContainerSpec{{Name: "aws-node", Image: "registry.example/cni:1"}, {Name: "aws-eks-nodeagent", Image: "registry.example/agent:1"}}
	p := r.pod("aws-node-1", i.Name, plugin)
	var story []string
	for _, line := range r.run(time.Minute) {
		if strings.Contains(line, "aws-node-1") {
			story = append(story, line)
		}
	}
	r.wants(story, `
		1m0.3s modified pod aws-node-1 PodReadyToStartContainers=False Ready=False/ContainersNotReady 10.0.0.10 waiting/ContainerCreating waiting/ContainerCreating
		1m0.9s added event aws-node-1 Normal Pulling: Pulling image "registry.example/cni:1"
		1m5.47s added event aws-node-1 Normal Pulled: Successfully pulled image "registry.example/cni:1" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		1m5.77s added event aws-node-1 Normal Created: Created container: aws-node
		1m5.77s added event aws-node-1 Normal Started: Started container aws-node
		1m5.77s added event aws-node-1 Normal Pulling: Pulling image "registry.example/agent:1"
		1m6.47s modified pod aws-node-1 PodReadyToStartContainers=True Ready=False/ContainersNotReady running waiting/ContainerCreating
		1m10.35s added event aws-node-1 Normal Pulled: Successfully pulled image "registry.example/agent:1" in 4.572s (4.572s including waiting). Image size: 62914560 bytes.
		1m10.65s added event aws-node-1 Normal Created: Created container: aws-eks-nodeagent
		1m10.65s added event aws-node-1 Normal Started: Started container aws-eks-nodeagent
		1m10.92s modified pod aws-node-1 Running PodReadyToStartContainers=True Ready=False/ContainersNotReady running running
		1m11.92s modified pod aws-node-1 terminated/Error/1 running
		1m12.62s added event aws-node-1 Normal Pulled: Container image "registry.example/cni:1" already present on machine
		1m12.92s modified event aws-node-1 x2
		1m12.92s modified event aws-node-1 x2
		1m13.2s modified pod aws-node-1 running/restarts=1 running
		1m14.2s modified pod aws-node-1 terminated/Error/1/restarts=1 running
		1m14.9s added event aws-node-1 Warning BackOff: Back-off restarting failed container aws-node in pod aws-node-1_default(00000000-0000-4000-8000-000000000009)
		1m14.9s modified pod aws-node-1 waiting/CrashLoopBackOff/restarts=1 running
		1m27.4s modified event aws-node-1 x2
		1m27.7s modified event aws-node-1 x3
		1m27.7s modified event aws-node-1 x3
		1m27.97s modified pod aws-node-1 running/restarts=2 running
		1m28.97s modified pod aws-node-1 terminated/Error/1/restarts=2 running
		1m29.67s modified event aws-node-1 x2
		1m29.67s modified pod aws-node-1 waiting/CrashLoopBackOff/restarts=2 running
		1m42.17s modified event aws-node-1 x3
		1m54.67s modified event aws-node-1 x3
		1m54.97s modified event aws-node-1 x4
		1m54.97s modified event aws-node-1 x4
		1m55.25s modified pod aws-node-1 running/restarts=3 running
		1m56.25s modified pod aws-node-1 terminated/Error/1/restarts=3 running
		1m56.95s modified event aws-node-1 x4
		1m56.95s modified pod aws-node-1 waiting/CrashLoopBackOff/restarts=3 running`)
	r.run(time.Hour)
	c := p.Containers[0]
	if c.Restarts < 12 || c.Restarts > 20 || p.Containers[1].Restarts != 0 || p.Phase != "Running" || c.Last.ExitCode != 1 {
		t.Errorf("phase %s: %+v", p.Phase, p.Containers)
	}
	want := "back-off 5m0s restarting failed container=aws-node pod=aws-node-1_default(" + p.UID + ")"
	if c.State.Reason != "CrashLoopBackOff" || c.State.Message != want {
		t.Errorf("state %+v", c.State)
	}
	r.Cloud.Ail(i, func(a *cloud.Ailments) { a.CNIBroken = false })
	r.run(10 * time.Minute)
	if !p.Ready() || !r.API.Node(i.Name).Ready() {
		t.Errorf("ready %v, node %v", p.Ready(), r.API.Node(i.Name).Ready())
	}
	r.readBack()
}

// TestNeverStartsAgain: with restartPolicy Never a crash and a reboot are a pod's end.
func TestNeverStartsAgain(t *testing.T) {
	for name, end := range map[string]func(*kubeletRig, *cloud.Instance, *kube.Pod) bool{
		"crash":  func(r *kubeletRig, _ *cloud.Instance, p *kube.Pod) bool { return r.k.Crash(p, "") },
		"reboot": func(r *kubeletRig, i *cloud.Instance, _ *kube.Pod) bool { r.Cloud.Restart(i, i.Template); return true },
	} {
		r := newKubeletRig(t, rigOptions{})
		i, n := r.seed()
		never := web()
		never.RestartPolicy, never.Workload = "Never", &traits{}
		p := r.runningPod("job-1", n.Name, never)
		r.run(time.Minute)
		if !end(r, i, p) {
			t.Fatalf("%s: refused", name)
		}
		r.run(time.Hour)
		if c := p.Containers[0]; p.Phase != "Failed" || c.State.Kind != "terminated" || c.Restarts != 0 || p.Ready() {
			t.Errorf("%s: phase %s, container %+v: want it failed, and never started again", name, p.Phase, c)
		}
		r.readBack()
	}
}
