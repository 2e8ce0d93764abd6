package scenarios

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// act does to the cluster what a fault says: to machines, at the provider, or by a write through the API, as a person
// with kubectl would. No event says that it was a fault.
func (s *Simulation) act(f *spec.Fault) {
	switch {
	case f.SpotInterruption != nil:
		s.interrupt(f.SpotInterruption)
	case f.Vanish != nil:
		for _, i := range s.victims(f.Vanish.Victims, false) {
			s.env.Cloud.Kill(i, !f.Vanish.Terminated)
		}
	case f.CapacityShortage != nil:
		c := f.CapacityShortage
		s.env.Cloud.Shortage(c.Zone, c.Group, true)
		s.until(c.For, func() { s.env.Cloud.Shortage(c.Zone, c.Group, false) })
	case f.ImagePull != nil:
		s.breakImage(f.ImagePull, s.env.Cloud.Launches())
	case f.Crash != nil:
		s.crash(f.Crash)
	case f.NeverReady != nil:
		s.neverReady(f.NeverReady)
	case f.KubeletDown != nil:
		s.down(f.KubeletDown, func(a *cloud.Ailments, is bool) { a.KubeletDown = is })
	case f.RuntimeDown != nil:
		s.down(f.RuntimeDown, func(a *cloud.Ailments, is bool) { a.RuntimeDown = is })
	case f.ZoneOutage != nil:
		s.outage(f.ZoneOutage)
	case f.Reboot != nil:
		for _, i := range s.victims(*f.Reboot, false) {
			s.env.Cloud.Restart(i, i.Template)
		}
	case f.Shutdown != nil:
		for _, i := range s.victims(*f.Shutdown, false) {
			s.env.Cloud.Terminate(i, false)
		}
	case f.MemoryLeak != nil:
		if t := s.traits[s.workloadOf(f.MemoryLeak.Workload).Key()]; t != nil {
			s.kubelets.Leak(t, f.MemoryLeak.PerMinute.Value())
		}
	case f.VolumeStuck != nil:
		s.until(f.VolumeStuck.For, s.env.Cloud.Volumes.Stick(s.volumesOf(f.VolumeStuck.Workload)))
	case f.IPExhaustion != nil:
		s.env.Cloud.Group(f.IPExhaustion.Group).FreeIPs = f.IPExhaustion.Free
	case f.CreateWorkload != nil:
		if w := s.workloadOf(f.CreateWorkload.Workload); w != nil && s.live != nil {
			s.live.create(w)
		} else if w != nil {
			one := s.workload(w)
			one.CreateAt = s.env.Now()
			s.traits[w.Key()] = one.Template.Traits
			s.check(s.workloads.Add(one))
		}
	case f.Scale != nil:
		if w := s.workloadOf(f.Scale.Workload); w != nil && s.live != nil {
			s.live.apiServer.Scale(string(w.Kind), w.Namespace, w.Name, int32(f.Scale.Replicas))
		} else if w != nil {
			s.check(s.keeperOf(w).scale(f.Scale.Replicas))
		}
	case f.Cordon != nil:
		s.schedulable(*f.Cordon, true)
	case f.Uncordon != nil:
		s.schedulable(*f.Uncordon, false)
	case f.Delete != nil:
		for _, i := range s.victims(*f.Delete, false) {
			if n := s.env.API.Node(i.Name); n != nil {
				s.env.API.DeleteNode(n)
			}
		}
	case f.Mark != nil:
		s.env.API.Mark(f.Mark.Name, "")
	}
}

func (s *Simulation) check(err error) {
	if err != nil {
		s.env.Fail(err)
	}
}

// until ends something after a while; 0 is never.
func (s *Simulation) until(d time.Duration, end func()) {
	if d > 0 {
		s.pending++
		s.env.After(d, func() { s.pending--; end(); s.settle() })
	}
}

// victims draws the machines that a fault befalls; of spot instances alone, if it says so.
func (s *Simulation) victims(v spec.Victims, spot bool) []*cloud.Instance {
	some := s.hittable(v, spot)
	s.victimRand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return some[:min(len(some), v.Nodes)]
}

// hittable are the machines that a fault may befall: those whose nodes are there.
func (s *Simulation) hittable(v spec.Victims, spot bool) (some []*cloud.Instance) {
	for _, g := range s.env.Cloud.Groups() {
		if v.Group != "" && g.Name != v.Group || spot && !g.Spot {
			continue
		}
		for _, i := range g.Instances() {
			if v.Node != "" && i.Name != v.Node || i.State != cloud.Running || i.Ailments.Dead || s.env.API.Node(i.Name) == nil {
				continue
			}
			old := i.Template.LaunchVersion == launchFrom
			if v.Which == spec.WhichOld && !old || v.Which == spec.WhichNew && old {
				continue
			}
			some = append(some, i)
		}
	}
	return some
}

func (s *Simulation) workloadOf(ref string) *spec.Workload { return s.file.Workload(ref) }

// interrupt gives the notices of a spot interruption.
func (s *Simulation) interrupt(f *spec.SpotInterruption) {
	for _, i := range s.victims(f.Victims, true) {
		notice := func() {
			stream := s.env.Stream("interruption", i.ID)
			s.env.Cloud.Interrupt(i, s.env.Draw(&stream, s.env.Timings.InterruptionLead))
		}
		if f.RebalanceLead == 0 {
			notice()
			continue
		}
		s.env.Cloud.Recommend(i)
		s.until(f.RebalanceLead, notice)
	}
}

func (s *Simulation) breakImage(f *spec.ImagePull, launches int) {
	image := f.Image
	if w := s.workloadOf(f.Workload); w != nil {
		image = w.Image
	}
	since := 0
	if f.On == spec.PullOnNew {
		since = launches
	}
	s.until(f.For, s.env.Cloud.Registry.Break(image, f.Reason, since))
}

// neverReady lets machines that are launched from now on fail to join.
func (s *Simulation) neverReady(f *spec.NeverReady) {
	left := f.Nodes
	s.env.Cloud.Watch(func(c cloud.Change, i *cloud.Instance) {
		if c != cloud.Launched || left == 0 || f.Group != "" && i.Group.Name != f.Group {
			return
		}
		left--
		s.env.After(0, func() {
			s.env.Cloud.Ail(i, func(a *cloud.Ailments) { *a = ailmentsOf(f) })
		})
	})
}

// crash has containers exit: those of some of a workload's pods, or all of an
// image that start from now on.
func (s *Simulation) crash(f *spec.Crash) {
	if f.Image != "" {
		s.until(f.For, s.env.Cloud.Registry.Spoil(f.Image))
		return
	}
	w := s.workloadOf(f.Workload)
	if w == nil {
		return
	}
	var some []*kube.Pod
	for _, p := range s.env.API.Pods() {
		if s.isOf(p, w) && p.Ready() && !p.Terminating() {
			some = append(some, p)
		}
	}
	s.victimRand.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	for left := f.Pods; left > 0 && len(some) > 0; some = some[1:] {
		if s.kubelets.Crash(some[0], f.Container) {
			left--
		}
	}
}

// down stops something on machines, once or again and again.
func (s *Simulation) down(f *spec.Down, set func(*cloud.Ailments, bool)) {
	for _, i := range s.victims(f.Victims, false) {
		for k := range f.Times {
			s.until(time.Duration(k)*f.Every+1, func() {
				s.env.Cloud.Ail(i, func(a *cloud.Ailments) { set(a, true) })
				s.until(f.For, func() { s.env.Cloud.Ail(i, func(a *cloud.Ailments) { set(a, false) }) })
			})
		}
	}
}

// outage cuts a zone off, and takes its capacity away.
func (s *Simulation) outage(f *spec.ZoneOutage) {
	s.env.Cloud.Shortage(f.Zone, "", true)
	var hit []*cloud.Instance
	for _, g := range s.env.Cloud.Groups() {
		for _, i := range g.Instances() {
			if i.Zone == f.Zone {
				hit = append(hit, i)
			}
		}
	}
	for _, i := range hit {
		if f.Terminated {
			s.env.Cloud.Kill(i, false)
		} else {
			s.env.Cloud.Ail(i, func(a *cloud.Ailments) { a.CutOff = true })
		}
	}
	s.until(f.For, func() {
		s.env.Cloud.Shortage(f.Zone, "", false)
		for _, i := range hit {
			s.env.Cloud.Ail(i, func(a *cloud.Ailments) { a.CutOff = false })
		}
	})
}

// schedulable cordons or uncordons nodes, as kubectl does.
func (s *Simulation) schedulable(v spec.Victims, cordon bool) {
	for _, i := range s.victims(v, false) {
		if n := s.env.API.Node(i.Name); n != nil {
			s.env.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = cordon })
		}
	}
}
