package model

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/nodesim/nodesim/golden"
)

// A simulation holds 450,000 of these.
func TestPodsAreSmall(t *testing.T) {
	if p, c := unsafe.Sizeof(Pod{}), unsafe.Sizeof(Container{}); p > 4 || c > 8 {
		t.Errorf("a pod takes %d bytes and a container %d, want at most 4 and 8", p, c)
	}
}

// A pod of two containers lives and is evicted.
func TestLifeOfAPod(t *testing.T) {
	version, names := Version{Minor: 34}, []string{"app", "proxy"}
	var out strings.Builder
	pod := Pod{Seen: true}
	tell := func(what string, ending bool, containers ...Container) {
		pod.Update(containers, ending, version)
		fmt.Fprintf(&out, "%s\n  phase %s\n", what, pod.Phase)
		for _, c := range PodConditions(nil, pod, containers, names, version) {
			fmt.Fprintf(&out, "  %s\n", strings.TrimSpace(strings.Join([]string{c.Type, c.Status, c.Reason, c.Message}, " ")))
		}
	}
	creating, running, ready := Container{}, Container{State: ContainerRunning}, Container{State: ContainerRunning, Ready: true}
	exited := func(code uint8) Container { return Container{State: ContainerExited, Exits: true, ExitCode: code} }
	pod.Seen = false
	tell("bound by the scheduler", false, creating, creating)
	pod.Seen = true
	tell("seen by the kubelet", false, creating, creating)
	pod.Sandbox = true
	tell("the sandbox stands; the proxy's image can't be pulled", false, creating, Container{State: ContainerPullError})
	tell("the app runs; the proxy waits", false, running, Container{State: ContainerPullBackOff})
	tell("the proxy runs; it has no probe", false, running, ready)
	tell("the app answers its probe", false, ready, ready)
	tell("evicted: the proxy ends itself", true, ready, exited(0))
	tell("the app is killed", true, exited(137), exited(0))
	pod.Sandbox = false
	tell("the sandbox is gone", true, exited(137), exited(0))
	golden.Assert(t, "pod-life.txt", out.String())
}

// A container that crashes again and again stands still for longer each time.
func TestCrashBackOff(t *testing.T) {
	for i, want := range []string{"0s", "10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"} {
		if got := CrashBackOff(i + 1); got.String() != want {
			t.Errorf("after run %d: back-off %s, want %s", i+1, got, want)
		}
	}
	if got := CrashBackOff(600); got != 5*time.Minute {
		t.Errorf("after run 600: back-off %s, want five minutes", got)
	}
	// A real pod with four restarts said exactly this.
	of := Whose{Container: "nginx", Pod: "init-demo", Namespace: "default", UID: "8d27f35a", Crashes: 5}
	const want = "back-off 1m20s restarting failed container=nginx pod=init-demo_default(8d27f35a)"
	if reason, message := ContainerCrashBackOff.Waiting(Version{Minor: 27}, of); reason != "CrashLoopBackOff" || message != want {
		t.Errorf("found %s %q, want CrashLoopBackOff %q", reason, message, want)
	}
	pod := Pod{Seen: true, Sandbox: true}
	if pod.Update([]Container{{State: ContainerCrashBackOff, Exits: true, ExitCode: 127}}, false, Version{Minor: 27}); pod.Phase != Running {
		t.Errorf("found phase %s, want a running pod", pod.Phase)
	}
}

func TestPullBackOff(t *testing.T) {
	for i, want := range []string{"10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"} {
		if got := PullBackOff(i + 1); got.String() != want {
			t.Errorf("after pull %d: back-off %s, want %s", i+1, got, want)
		}
	}
	of := Whose{Image: "demo/no-such:1", PullError: "manifest unknown"}
	for minor, want := range map[uint16]string{31: `Back-off pulling image "demo/no-such:1"`, 34: `Back-off pulling image "demo/no-such:1": ErrImagePull: manifest unknown`} {
		if reason, message := ContainerPullBackOff.Waiting(Version{Minor: minor}, of); message != want || reason != "ImagePullBackOff" {
			t.Errorf("1.%d: %s %q, want ImagePullBackOff %q", minor, reason, message, want)
		}
	}
	for state, want := range map[ContainerState][2]string{ContainerPullError: {"ErrImagePull", "manifest unknown"}, ContainerCreating: {"ContainerCreating", ""}} {
		if reason, message := state.Waiting(Version{}, of); reason != want[0] || message != want[1] {
			t.Errorf("found %s %q, want %q", reason, message, want)
		}
	}
}

// Before 1.27 a deleted pod stayed as it was; before 1.29 there was no PodReadyToStartContainers.
func TestOlderKubelets(t *testing.T) {
	for minor, want := range map[uint16]Phase{26: Running, 27: Failed} {
		p := Pod{Seen: true, Sandbox: true, Phase: Running}
		containers := []Container{{State: ContainerExited, Exits: true, ExitCode: 143}}
		p.Update(containers, true, Version{Minor: minor})
		if p.Phase != want {
			t.Errorf("1.%d: phase %s, want %s", minor, p.Phase, want)
		}
		if got := PodConditions(nil, p, containers, []string{"a"}, Version{Minor: minor}); len(got) != 4 || got[0].Type != "Initialized" {
			t.Errorf("1.%d: conditions %v, want four", minor, got)
		}
	}
}

func TestUnreadyMessage(t *testing.T) {
	var buf [8]Condition
	p := Pod{Seen: true, Phase: Running}
	for _, c := range []struct {
		ready []bool
		want  string
	}{
		{[]bool{false}, "containers with unready status: [a]"},
		{[]bool{true, false, false}, "containers with unready status: [b c]"},
		{[]bool{false, false, false}, "containers with unready status: [a b c]"},
		{[]bool{true, true}, ""},
		{nil, ""},
	} {
		containers := make([]Container, len(c.ready))
		for i, ready := range c.ready {
			containers[i] = Container{State: ContainerRunning, Ready: ready}
		}
		got := PodConditions(buf[:0], p, containers, []string{"a", "b", "c"}, Version{Minor: 34})
		if got[2].Message != c.want || got[3].Message != c.want || (got[2].Status == True) != (c.want == "") {
			t.Errorf("%v: %+v, want the message %q", c.ready, got[2], c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		PodConditions(buf[:0], p, []Container{{State: ContainerRunning, Ready: true}}, nil, Version{Minor: 34})
	}); n != 0 {
		t.Errorf("the conditions of a ready pod allocate %v times", n)
	}
}
