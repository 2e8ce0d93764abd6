package variant

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// A kind is a fault that may be added to a file.
type kind struct {
	action  string
	applies func(*spec.File) bool
	draw    func(*drawer) spec.Fault
}

// kinds are all but createWorkload, which needs a workload that isn't there, and mark, which does nothing.
var kinds = []kind{
	{"spotInterruption", hasSpot, func(d *drawer) spec.Fault {
		v := d.victims()
		v.Group = pick(d.Rand, spotGroups(d.f))
		return spec.Fault{SpotInterruption: &spec.SpotInterruption{Victims: v, RebalanceLead: pick(d.Rand, []time.Duration{0, time.Minute})}}
	}},
	{"vanish", always, func(d *drawer) spec.Fault {
		return spec.Fault{Vanish: &spec.Vanish{Victims: d.victims(), Terminated: d.once(2)}}
	}},
	{"capacityShortage", always, func(d *drawer) spec.Fault {
		return spec.Fault{CapacityShortage: &spec.CapacityShortage{Zone: d.zoneOrAll(), For: d.while()}}
	}},
	{"imagePull", hasWorkload, func(d *drawer) spec.Fault {
		return spec.Fault{ImagePull: &spec.ImagePull{
			Workload: d.workload(nil), On: pick(d.Rand, []spec.PullOn{spec.PullOnNew, spec.PullOnAll}), Reason: "not found", For: d.while(),
		}}
	}},
	{"crash", hasWorkload, func(d *drawer) spec.Fault {
		return spec.Fault{Crash: &spec.Crash{Workload: d.workload(nil), Pods: 1 + d.IntN(3)}}
	}},
	{"neverReady", always, func(d *drawer) spec.Fault {
		causes := []spec.NeverReadyCause{spec.CauseCNI, spec.CauseUserdata, spec.CauseKubelet}
		return spec.Fault{NeverReady: &spec.NeverReady{Cause: pick(d.Rand, causes), Nodes: 1 + d.IntN(2)}}
	}},
	{"kubeletDown", always, func(d *drawer) spec.Fault { return spec.Fault{KubeletDown: d.down()} }},
	{"runtimeDown", always, func(d *drawer) spec.Fault { return spec.Fault{RuntimeDown: d.down()} }},
	{"zoneOutage", always, func(d *drawer) spec.Fault {
		return spec.Fault{ZoneOutage: &spec.ZoneOutage{Zone: pick(d.Rand, d.f.Cluster.Zones), For: d.while(), Terminated: d.once(4)}}
	}},
	{"reboot", always, func(d *drawer) spec.Fault { return spec.Fault{Reboot: d.some()} }},
	{"shutdown", always, func(d *drawer) spec.Fault { return spec.Fault{Shutdown: d.some()} }},
	{"memoryLeak", hasWorkload, func(d *drawer) spec.Fault {
		grows := pick(d.Rand, []int64{64, 256, 1024})
		return spec.Fault{MemoryLeak: &spec.MemoryLeak{Workload: d.workload(nil), PerMinute: *resource.NewQuantity(grows<<20, resource.BinarySI)}}
	}},
	{"volumeStuck", hasVolume, func(d *drawer) spec.Fault {
		return spec.Fault{VolumeStuck: &spec.VolumeStuck{Workload: d.workload(withVolume), For: d.while()}}
	}},
	{"ipExhaustion", hasGroup, func(d *drawer) spec.Fault {
		return spec.Fault{IPExhaustion: &spec.IPExhaustion{Group: pick(d.Rand, groups(d.f)), Free: d.IntN(10)}}
	}},
	{"scale", hasScaled, func(d *drawer) spec.Fault {
		ref := d.workload(scaled)
		return spec.Fault{Scale: &spec.Scale{Workload: ref, Replicas: d.IntN(2*d.f.Workload(ref).Replicas + 2)}}
	}},
	{"cordon", always, func(d *drawer) spec.Fault { return spec.Fault{Cordon: d.some()} }},
	{"uncordon", always, func(d *drawer) spec.Fault { return spec.Fault{Uncordon: d.some()} }},
	{"delete", always, func(d *drawer) spec.Fault { return spec.Fault{Delete: d.some()} }},
}

// Applicable are the actions of the faults that may be added to a file, in the order of docs/scenarios.md.
func Applicable(f *spec.File) (all []string) {
	for _, k := range kinds {
		if k.fits(f) {
			all = append(all, k.action)
		}
	}
	return all
}

// fits reports whether a fault may be added to a file, and does something there.
func (k *kind) fits(f *spec.File) bool {
	return k.applies(f) && (f.Cluster.Kubelet != spec.KubeletKwok || !spec.NotOfKwok(k.action))
}

// Actions are those of all faults that may be added to some file.
func Actions() (all []string) {
	for _, k := range kinds {
		all = append(all, k.action)
	}
	return all
}

// faults adds some, each after a state of the cluster, another fault or a time.
func (d *drawer) faults() {
	if d.space.more < 1 || len(d.space.Faults) == 0 {
		return
	}
	var added []string
	for range d.IntN(d.space.more + 1) {
		action := pick(d.Rand, d.space.Faults)
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.action == action })
		if i < 0 || !kinds[i].fits(d.f) { // it has no such workload any more
			continue
		}
		one := kinds[i].draw(d)
		one.Name = d.free(len(added))
		d.trigger(&one, added)
		d.f.Faults, added = append(d.f.Faults, one), append(added, one.Name)
	}
}

// free is a name that no fault of the file has.
func (d *drawer) free(n int) string {
	name := "hunt-" + string(rune('a'+n%26))
	for slices.ContainsFunc(d.f.Faults, func(one spec.Fault) bool { return one.Name == name }) {
		name += "a"
	}
	return name
}

func always(f *spec.File) bool      { return f.Nodes() > 0 && len(f.Cluster.Zones) > 0 }
func hasSpot(f *spec.File) bool     { return len(spotGroups(f)) > 0 }
func hasGroup(f *spec.File) bool    { return len(groups(f)) > 0 }
func hasWorkload(f *spec.File) bool { return len(workloads(f, nil)) > 0 }
func hasVolume(f *spec.File) bool   { return len(workloads(f, withVolume)) > 0 }
func hasScaled(f *spec.File) bool   { return len(workloads(f, scaled)) > 0 }

func withVolume(w *spec.Workload) bool { return w.Volume != nil }

func scaled(w *spec.Workload) bool {
	return w.Kind != spec.KindDaemonSet && w.Kind != spec.KindPod
}

// groups are those that a fault may name: one that is split has other names.
func groups(f *spec.File) (all []string) {
	for i := range f.Groups {
		if g := &f.Groups[i]; g.NodesPerGroup == 0 || g.Nodes <= g.NodesPerGroup {
			all = append(all, g.Name)
		}
	}
	return all
}

func spotGroups(f *spec.File) (all []string) {
	for _, name := range groups(f) {
		i := slices.IndexFunc(f.Groups, func(g spec.Group) bool { return g.Name == name })
		if f.Groups[i].CapacityType == spec.CapacitySpot {
			all = append(all, name)
		}
	}
	return all
}

// workloads are those that a fault may name, by namespace and name: as groups.
func workloads(f *spec.File, of func(*spec.Workload) bool) (all []string) {
	for i := range f.Workloads {
		w := &f.Workloads[i]
		if split := w.ReplicasPerWorkload > 0 && w.Replicas > w.ReplicasPerWorkload; !split && w.CreateAt == 0 && (of == nil || of(w)) {
			all = append(all, w.Key().String())
		}
	}
	return all
}

func (d *drawer) workload(of func(*spec.Workload) bool) string {
	return pick(d.Rand, workloads(d.f, of))
}

func (d *drawer) zoneOrAll() string {
	if d.once(2) {
		return ""
	}
	return pick(d.Rand, d.f.Cluster.Zones)
}

// victims draws which nodes a fault hits.
func (d *drawer) victims() spec.Victims {
	v := spec.Victims{Nodes: 1, Which: spec.WhichAny}
	if d.once(4) {
		v.Nodes = 2 + d.IntN(3)
	}
	if all := groups(d.f); len(all) > 0 && d.once(2) {
		v.Group = pick(d.Rand, all)
	}
	if d.f.Roll != nil && d.f.Roll.Workload == "" && d.once(2) {
		v.Which = pick(d.Rand, []spec.Which{spec.WhichOld, spec.WhichNew})
	}
	return v
}

func (d *drawer) some() *spec.Victims {
	v := d.victims()
	return &v
}

// down draws an outage, or several on the same nodes.
func (d *drawer) down() *spec.Down {
	o := &spec.Down{Victims: d.victims(), For: d.while(), Times: 1}
	if d.once(3) {
		o.Times = 2 + d.IntN(3)
	}
	o.Every = 2 * o.For
	return o
}

// while draws how long something lasts.
func (d *drawer) while() time.Duration {
	return pick(d.Rand, []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute})
}
