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

// story writes what the API shows of a pod after each step of its life.
type story struct {
	out        strings.Builder
	pod        Pod
	containers []Container
	names      []string
	version    Version
}

func (s *story) tell(what string, ending bool) {
	s.pod.Update(s.containers, ending, s.version)
	fmt.Fprintf(&s.out, "%s\n  phase %s\n", what, s.pod.Phase)
	for _, c := range PodConditions(nil, s.pod, s.containers, s.names, s.version) {
		fmt.Fprintf(&s.out, "  %s\n", strings.TrimSpace(strings.Join([]string{c.Type, c.Status, c.Reason, c.Message}, " ")))
	}
	if !s.pod.Seen {
		return
	}
	for i, c := range s.containers {
		now, last := c.Steps(s.version, Whose{Container: s.names[i], Image: "registry.example/" + s.names[i] + ":1", Pod: "web-1", Namespace: "shop", UID: "8d27f35a", PullError: "not found"})
		fmt.Fprintf(&s.out, "  container %s: ready %v, started %v, restarts %d, now %s", s.names[i], c.Ready, c.Started, c.Restarts, step(now))
		if last.Kind != NoStep {
			fmt.Fprintf(&s.out, ", last %s", step(last))
		}
		s.out.WriteString("\n")
	}
}

func step(s Step) string {
	switch s.Kind {
	case StepWaiting:
		return strings.TrimSpace("waiting " + s.Reason + " " + s.Message)
	case StepTerminated:
		return fmt.Sprintf("terminated %s %d", s.Reason, s.ExitCode)
	case StepRunning:
		return "running"
	}
	return "nothing"
}

// A pod of two containers lives and is evicted.
func TestLifeOfAPod(t *testing.T) {
	s := story{containers: make([]Container, 2), names: []string{"app", "proxy"}, version: Version{Minor: 34}}
	s.tell("bound by the scheduler", false)
	s.pod.See()
	s.tell("seen by the kubelet", false)
	s.pod.Sandbox = true
	s.containers[1].PullFailed()
	s.tell("the sandbox stands; the proxy's image can't be pulled", false)
	s.containers[0].Start(true)
	s.containers[1].PullWaits()
	s.tell("the app runs; the proxy waits", false)
	s.containers[1].Start(false)
	s.tell("the proxy runs; it has no probe", false)
	s.containers[0].Probe(true)
	s.tell("the app answers its probe", false)
	s.containers[1].Exit(ExitCompleted, false, time.Second)
	s.tell("evicted: the proxy ends itself", true)
	s.containers[0].Exit(ExitSIGKILL, false, time.Minute)
	s.tell("the app is killed", true)
	s.pod.Sandbox = false
	s.tell("the sandbox is gone", true)
	golden.Assert(t, "pod-life.txt", s.out.String())
}

// A container crashes again and again, and stands still for longer each time.
func TestCrashLoop(t *testing.T) {
	s := story{containers: make([]Container, 1), names: []string{"nginx"}, version: Version{Minor: 27}}
	s.pod.See()
	s.pod.Sandbox = true
	c := &s.containers[0]
	for i, want := range []string{"0s", "10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"} {
		c.Start(false)
		c.Exit(127, false, time.Second)
		if got := c.BackOff(); got.String() != want || int(c.Restarts) != i {
			t.Errorf("after run %d: back-off %s with %d restarts, want %s with %d", i+1, got, c.Restarts, want, i)
		}
		if i == 4 {
			// A real pod with four restarts said exactly this.
			c.RestartWaits()
			now, last := c.Steps(s.version, Whose{Container: "nginx", Pod: "init-demo", Namespace: "default", UID: "8d27f35a"})
			if want := (Step{StepWaiting, "CrashLoopBackOff", "back-off 1m20s restarting failed container=nginx pod=init-demo_default(8d27f35a)", 0}); now != want || last.ExitCode != 127 {
				t.Errorf("%+v after %+v, want %+v", now, last, want)
			}
			s.pod.Update(s.containers, false, s.version)
			if s.pod.Phase != Running || c.Ready || c.Started {
				t.Errorf("phase %s, ready %v, started %v; want a running pod with a container that is neither", s.pod.Phase, c.Ready, c.Started)
			}
		}
	}
	c.Start(false)
	c.Exit(1, false, 11*time.Minute)
	if got := c.BackOff(); got != 0 {
		t.Errorf("after eleven good minutes: back-off %s, want none", got)
	}
}

func TestPullSeries(t *testing.T) {
	var c Container
	for i, want := range []string{"10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"} {
		c.PullFailed()
		if got := c.BackOff(); got.String() != want {
			t.Errorf("after pull %d: back-off %s, want %s", i+1, got, want)
		}
		c.PullWaits()
	}
	of := Whose{Image: "demo/no-such:1", PullError: "manifest unknown"}
	for minor, want := range map[uint16]string{31: `Back-off pulling image "demo/no-such:1"`, 34: `Back-off pulling image "demo/no-such:1": ErrImagePull: manifest unknown`} {
		if now, _ := c.Steps(Version{Minor: minor}, of); now.Message != want || now.Reason != "ImagePullBackOff" {
			t.Errorf("1.%d: %s %q, want ImagePullBackOff %q", minor, now.Reason, now.Message, want)
		}
	}
	c.Start(false)
	c.Exit(1, false, 0)
	if got := c.BackOff(); got != 0 {
		t.Errorf("the first crash waits %s: the failed pulls count", got)
	}
	for range 600 {
		c.Start(false)
		c.Exit(1, true, 0)
	}
	if c.Restarts != 255 || c.BackOff() != 5*time.Minute {
		t.Errorf("%d restarts, back-off %s; want both at their end", c.Restarts, c.BackOff())
	}
	if now, _ := c.Steps(Version{}, of); now.Reason != "OOMKilled" {
		t.Errorf("out of memory reads %s", now.Reason)
	}
}

// Before 1.27 a deleted pod stayed as it was; before 1.29 there was no PodReadyToStartContainers.
func TestOlderKubelets(t *testing.T) {
	for minor, want := range map[uint16]Phase{26: Running, 27: Failed} {
		p := Pod{Seen: true, Sandbox: true, Phase: Running}
		containers := []Container{{State: ContainerExited, Exits: true, ExitCode: ExitSIGTERM}}
		p.Update(containers, true, Version{Minor: minor})
		if p.Phase != want {
			t.Errorf("1.%d: phase %s, want %s", minor, p.Phase, want)
		}
		if got := PodConditions(nil, p, containers, []string{"a"}, Version{Minor: minor}); len(got) != 4 || got[0].Type != "Initialized" {
			t.Errorf("1.%d: conditions %v, want four", minor, got)
		}
	}
}

func TestDisruptions(t *testing.T) {
	for d, want := range map[Disruption]string{
		EvictedByAPI: "EvictionByEvictionAPI", DeletedForTaint: "DeletionByTaintManager", DeletedByPodGC: "DeletionByPodGC",
		EndedByShutdown: "TerminationByKubelet", Preempted: "PreemptionByScheduler",
	} {
		if c := d.Condition(); c.Type != "DisruptionTarget" || c.Status != True || c.Reason != want || c.Message == "" {
			t.Errorf("%d is %+v, want %s", d, c, want)
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
