package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func (c *checker) faults() *Error {
	for i := range c.f.Faults {
		f, path := &c.f.Faults[i], fmt.Sprintf("faults[%d]", i)
		if err := c.trigger(f, path); err != nil {
			return err
		}
		keys := f.actions()
		if len(keys) != 1 {
			found := "no action"
			if len(keys) > 0 {
				found = "more than one action, " + all(keys)
			}
			return c.bad(path, found, "one action: "+list(actionKeys()))
		}
		if c.f.Cluster.Kubelet == KubeletKwok && NotOfKwok(keys[0]) {
			return c.bad(path+"."+keys[0], "a fault of kubelets", "none of these where cluster.kubelet is kwok")
		}
		if err := c.refersTo(reflect.ValueOf(f).Elem(), path); err != nil {
			return err
		}
		if err := c.action(f, path+"."+keys[0]); err != nil {
			return err
		}
	}
	return c.cycles()
}

// NotOfKwok reports whether a fault's action does nothing to nodes of kwok: they have no images, runtime, memory, addresses and volumes.
func NotOfKwok(action string) bool {
	return slices.Contains([]string{"imagePull", "crash", "runtimeDown", "memoryLeak", "volumeStuck", "ipExhaustion"}, action)
}

// actionKeys are the keys of all actions.
func actionKeys() []string {
	var keys []string
	for _, f := range fieldsOf(reflect.TypeFor[Fault]()) {
		if !slices.Contains([]string{"name", "if", "at", "when", "after"}, f.key) {
			keys = append(keys, f.key)
		}
	}
	return keys
}

func (c *checker) trigger(f *Fault, path string) *Error {
	var keys []string
	if f.At != nil {
		keys = append(keys, "at")
	}
	if f.When != nil {
		keys = append(keys, "when")
	}
	if f.After != nil {
		keys = append(keys, "after")
	}
	if len(keys) != 1 {
		found := "no trigger"
		if len(keys) > 0 {
			found = "more than one trigger, " + all(keys)
		}
		return c.bad(path, found, "one of at, when and after")
	}
	switch {
	case f.At != nil:
		return c.within(path+".at", *f.At)
	case f.When != nil:
		return c.when(f.When, path+".when")
	}
	var known []string
	for _, other := range c.f.Faults {
		if other.Name != "" {
			known = append(known, other.Name)
		}
	}
	if !slices.Contains(known, f.After.Fault) {
		return c.unknown(path+".after.fault", "fault", f.After.Fault, known)
	}
	return nil
}

func (c *checker) when(w *When, path string) *Error {
	switch {
	case (w.Nodes == "") == (w.Pods == ""):
		found := "neither nodes nor pods"
		if w.Nodes != "" {
			found = "both nodes and pods"
		}
		return c.bad(path, found, "one of them")
	case w.Nodes != "" && w.Workload != "":
		return c.bad(path+".workload", fmt.Sprintf("%q", w.Workload), "none for nodes")
	}
	return nil
}

// refersTo checks every group, workload and zone that a part of a fault names.
func (c *checker) refersTo(v reflect.Value, path string) (err *Error) {
	namedIn(v, path, func(at, key, name string) bool {
		switch key {
		case "group":
			err = c.group(at, name)
		case "workload":
			err = c.workloadNamed(at, name)
		case "zone":
			err = c.zone(at, name)
		}
		return err == nil
	})
	return err
}

// namedIn calls yield with the path, the key and the value of every text in a part of a fault, its parts included,
// until that returns false. The keys group, workload and zone below it hold the fault's references.
func namedIn(v reflect.Value, path string, yield func(at, key, text string) bool) bool {
	for _, f := range fieldsOf(v.Type()) {
		field, at := v.FieldByIndex(f.index), under(path, f.key)
		switch {
		case field.Kind() == reflect.String:
			if !yield(at, f.key, field.String()) {
				return false
			}
		case field.Kind() == reflect.Pointer && !field.IsNil() && field.Elem().Kind() == reflect.Struct:
			if !namedIn(field.Elem(), at, yield) {
				return false
			}
		}
	}
	return true
}

// action checks what is particular to one action.
func (c *checker) action(f *Fault, path string) *Error {
	switch {
	case f.SpotInterruption != nil:
		return c.spot(f.SpotInterruption.Group, path)
	case f.ImagePull != nil && (f.ImagePull.Image == "") == (f.ImagePull.Workload == ""):
		found := "neither image nor workload"
		if f.ImagePull.Image != "" {
			found = "both image and workload"
		}
		return c.bad(path, found, "one of them")
	case f.Crash != nil:
		return c.crash(f.Crash, path)
	case f.KubeletDown != nil:
		return c.down(f.KubeletDown, path)
	case f.RuntimeDown != nil:
		return c.down(f.RuntimeDown, path)
	case f.VolumeStuck != nil:
		if w := c.f.Workload(f.VolumeStuck.Workload); w != nil && w.Volume == nil {
			return c.bad(path+".workload", fmt.Sprintf("%q, which has no volume", w.Name), "a workload with a volume, or none for all volumes")
		}
	case f.Scale != nil:
		if kind := c.f.Workload(f.Scale.Workload).Kind; kind == KindDaemonSet || kind == KindPod {
			return c.bad(path+".workload", fmt.Sprintf("%q, a %s", f.Scale.Workload, kind), "a workload that has replicas")
		}
	case f.CreateWorkload != nil:
		return c.creation(f, path)
	}
	return nil
}

// crash refuses a crash of neither or both, and what the one has that only the
// other can have.
func (c *checker) crash(f *Crash, path string) *Error {
	switch {
	case f.Image == "" && f.Workload == "":
		return c.bad(path, "neither image nor workload", "one of them")
	case f.Image != "" && f.Workload != "":
		return c.bad(path, "both image and workload", "one of them")
	case f.Image != "" && f.Container != "":
		return c.bad(path+".container", fmt.Sprintf("%q", f.Container), "none with an image, of which every container crashes")
	case f.Image != "" && c.has(path+".pods"):
		return c.bad(path+".pods", fmt.Sprint(f.Pods), "none with an image, of which every container crashes")
	case f.Workload != "" && f.For > 0:
		return c.bad(path+".for", short(f.For), "none with a workload, whose pods crash once")
	case f.Workload != "":
		return c.containerNamed(path+".container", c.f.Workload(f.Workload), f.Container)
	}
	return nil
}

// spot refuses interruptions of instances that can't be interrupted.
func (c *checker) spot(group, path string) *Error {
	for _, g := range c.f.Groups {
		if g.CapacityType == CapacitySpot && (group == "" || g.Name == group) {
			return nil
		}
	}
	if group == "" {
		return c.bad(path, "no group of spot instances", "one with capacityType: SPOT")
	}
	return c.bad(path+".group", fmt.Sprintf("%q, whose capacityType is ON_DEMAND", group), "one with capacityType: SPOT")
}

func (c *checker) down(d *Down, path string) *Error {
	switch {
	case d.Times > 1 && d.For == 0:
		return c.bad(path+".times", fmt.Sprint(d.Times), "a time that it lasts, for, where it happens more than once")
	case d.Times == 1 && d.Every != 2*d.For:
		return c.bad(path+".every", short(d.Every), "none where it happens once: times says how often")
	case d.Times > 1 && d.Every <= d.For:
		return c.bad(path+".every", short(d.Every), "more than for, "+short(d.For))
	}
	return nil
}

// creation refuses to create a workload twice.
func (c *checker) creation(f *Fault, path string) *Error {
	name := f.CreateWorkload.Workload
	w := c.f.Workload(name)
	first := slices.IndexFunc(c.f.Faults, func(other Fault) bool {
		return other.CreateWorkload != nil && c.f.Workload(other.CreateWorkload.Workload) == w
	})
	switch {
	case w.CreateAt > 0:
		return c.bad(path+".workload", fmt.Sprintf("%q, which has createAt", name), "one of them")
	case len(w.Pods) > 0:
		return c.bad(path+".workload", fmt.Sprintf("%q, which has pods at 0s", name), "a workload without pods")
	case &c.f.Faults[first] != f:
		return c.bad(path+".workload", fmt.Sprintf("%q for the second time", name), "each workload created once")
	}
	return nil
}

// cycles refuses faults that wait for each other.
func (c *checker) cycles() *Error {
	place := map[string]int{}
	for i, f := range c.f.Faults {
		if f.Name != "" {
			place[f.Name] = i
		}
	}
	const (
		unseen = iota
		onTheWay
		sound
	)
	state := make([]int, len(c.f.Faults))
	for start := range c.f.Faults {
		var way []int
		i := start
		for state[i] == unseen && c.f.Faults[i].After != nil {
			state[i] = onTheWay
			way = append(way, i)
			i = place[c.f.Faults[i].After.Fault]
		}
		if state[i] == onTheWay {
			var names []string
			for _, at := range way[slices.Index(way, i):] {
				names = append(names, c.f.Faults[at].Name)
			}
			names = append(names, names[0])
			return c.bad(fmt.Sprintf("faults[%d].after", i), "a cycle, "+strings.Join(names, " after "), "a fault to begin with")
		}
		state[i] = sound
		for _, at := range way {
			state[at] = sound
		}
	}
	return nil
}
