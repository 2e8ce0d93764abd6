package scenarios

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// resume restores the lasting effects of an earlier fault in a resumed live run: those at the provider, the registry
// or an image. What befell single machines before they registered is noted with them (see machine.Ail); what befell
// them later ended with the process that played it.
func (s *Simulation) resume(f *spec.Fault, ago time.Duration) {
	on, again := true, *f
	last := func(d *time.Duration) {
		if *d > 0 {
			*d -= ago
			on = *d > 0
		}
	}
	switch {
	case f.CapacityShortage != nil:
		c := *f.CapacityShortage
		last(&c.For)
		again.CapacityShortage = &c
	case f.ImagePull != nil:
		c := *f.ImagePull
		if last(&c.For); on {
			s.breakImage(&c, s.file.Nodes()) // when it began, nothing else was launched, as far as is known
		}
		return
	case f.Crash != nil && f.Crash.Image != "":
		c := *f.Crash
		last(&c.For)
		again.Crash = &c
	case f.ZoneOutage != nil:
		c := *f.ZoneOutage
		last(&c.For)
		again.ZoneOutage = &c
	case f.VolumeStuck != nil:
		c := *f.VolumeStuck
		last(&c.For)
		again.VolumeStuck = &c
	case f.NeverReady != nil:
		c := *f.NeverReady
		for _, g := range s.env.Cloud.Groups() {
			for _, i := range g.Instances() {
				if i.Ailments == ailmentsOf(&c) {
					c.Nodes--
				}
			}
		}
		again.NeverReady, on = &c, c.Nodes > 0
	case f.IPExhaustion != nil, f.MemoryLeak != nil:
	default:
		return
	}
	if on {
		s.act(&again)
	}
}

// ailmentsOf are those of a machine that a NeverReady befalls.
func ailmentsOf(f *spec.NeverReady) (a cloud.Ailments) {
	switch f.Cause {
	case spec.CauseUserdata:
		a.UserDataFail = true
	case spec.CauseKubelet:
		a.NeverPosts = true
	default:
		a.CNIBroken = true
	}
	return a
}
