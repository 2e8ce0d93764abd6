package model

import "testing"

// phaseOf says the kubelet's rule once more, by counting words: the twin of Pod.Update.
func phaseOf(policy RestartPolicy, containers []Container, ending bool) Phase {
	count := map[string]int{}
	for _, c := range containers {
		switch {
		case c.State == ContainerRunning:
			count["running"]++
		case c.State == ContainerExited, c.Exits:
			count["stopped"]++
			if c.ExitCode == 0 {
				count["succeeded"]++
			} else if policy == RestartOnFailure {
				count["restartable"]++
			}
			if policy == RestartAlways {
				count["restartable"]++
			}
		default:
			count["waiting"]++
		}
	}
	if count["waiting"] > 0 && ending && count["running"] == 0 {
		return Failed
	}
	if count["waiting"] > 0 || len(containers) == 0 {
		return Pending
	}
	if count["running"] > 0 {
		return Running
	}
	if !ending && count["restartable"] > 0 {
		return Running
	}
	if count["stopped"] == count["succeeded"] {
		return Succeeded
	}
	return Failed
}

func TestPhaseAgainstNaivePhase(t *testing.T) {
	s, seen := NewStream(1, "phases"), map[Phase]int{}
	for range 50_000 {
		containers := make([]Container, s.N(4))
		for i := range containers {
			c := &containers[i]
			c.State = ContainerState(s.N(6))
			c.Exits = c.State >= ContainerExited || s.N(1000) < 300
			if c.Exits {
				c.ExitCode = []uint8{0, 1, 137, 143}[s.N(4)]
			}
		}
		policy, ending := RestartPolicy(s.N(3)), s.N(1000) < 500 && len(containers) > 0
		p := Pod{Seen: true, Policy: policy}
		p.Update(containers, ending, Version{Minor: 34})
		if want := phaseOf(policy, containers, ending); p.Phase != want {
			t.Fatalf("%+v with policy %d, ending %v: %s, want %s", containers, policy, ending, p.Phase, want)
		}
		seen[p.Phase]++
		if before := p.Phase; before.Terminal() {
			p.Update([]Container{{State: ContainerRunning}}, false, Version{Minor: 34})
			if p.Phase != before {
				t.Fatalf("a pod left the phase %s for %s", before, p.Phase)
			}
		}
	}
	for phase := Pending; phase <= Failed; phase++ {
		if seen[phase] < 1000 {
			t.Errorf("only %d of 50000 trials ended in %s", seen[phase], phase)
		}
	}
}
