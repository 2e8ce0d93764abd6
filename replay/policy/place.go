package policy

import (
	"cmp"
	"reflect"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// nameOf is the name of an object of an analysis: Kind/namespace/name or Kind/name, as waits and findings name it.
func nameOf(obj reflect.Value) string {
	switch o := obj.Interface().(type) {
	case analysis.About:
		return "Tape/" + o.Name
	case analysis.Roll:
		return "Roll/" + cmp.Or(o.Pods, o.Group)
	case analysis.Node:
		return "Node/" + o.Name
	case analysis.Workload:
		return o.Kind + "/" + o.Namespace + "/" + o.Name
	case analysis.Budget:
		return "PodDisruptionBudget/" + o.Namespace + "/" + o.Name
	case analysis.Pod:
		return "Pod/" + o.Namespace + "/" + o.Name
	case analysis.Wait:
		return string(o.Kind) + " " + strings.TrimSpace(o.Object+" "+o.Duration.Round(time.Millisecond).String())
	case analysis.Finding:
		return strings.TrimSuffix(string(o.Kind)+" "+o.Object, " ")
	}
	return obj.Type().Name()
}

// ends are the moments in which what a field measures shows, the first one that is there.
var ends = map[string][]string{
	"boot": {"joined"}, "join": {"ready"}, "cordon": {"drainBegan"}, "drain": {"drained", "drainBegan"}, "termination": {"terminated"},
	"drainUnfinished": {"drainBegan"}, "podsToEvict": {"drainBegan"},
	"leastAvailable": {"leastAt"}, "replicas": {"leastAt"}, "belowWanted": {"leastAt"}, "belowReplicas": {"leastAt"},
	"duration": {"end", "from"}, "outcome": {"end"}, "left": {"end"}, "replaced": {"end"},
}

// momentOf is the position on the tape that shows what fields of an object say: that of a field, or the first of the findings
// and waits about the object, or the object's first moment of all.
func momentOf(a *analysis.Analysis, obj reflect.Value, fields []string) *analysis.Moment {
	for _, name := range fields {
		for _, at := range append([]string{name}, ends[name]...) {
			if m := momentIn(obj, at); m != nil {
				return m
			}
		}
	}
	if m := about(a, nameOf(obj)); m != nil {
		return m
	}
	for i := range obj.NumField() {
		if m := momentIn(obj, jsonName(obj.Type().Field(i))); m != nil {
			return m
		}
	}
	return nil
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// momentIn is the moment of a field: of one that has waits the longest one's beginning, of one that has notes the first one's.
func momentIn(obj reflect.Value, name string) *analysis.Moment {
	for i := range obj.NumField() {
		if jsonName(obj.Type().Field(i)) != name {
			continue
		}
		switch v := obj.Field(i).Interface().(type) {
		case *analysis.Moment:
			return v
		case analysis.Moment:
			return &v
		case []analysis.Note:
			if len(v) > 0 {
				return &v[0].Moment
			}
		case []analysis.Wait:
			var longest *analysis.Wait
			for i := range v {
				if longest == nil || v[i].Duration > longest.Duration {
					longest = &v[i]
				}
			}
			if longest != nil {
				return &longest.From
			}
		}
	}
	return nil
}

// about is the first moment of the findings about an object, or else of the waits for it.
func about(a *analysis.Analysis, name string) *analysis.Moment {
	var first *analysis.Moment
	earlier := func(m *analysis.Moment) {
		if first == nil || m.At < first.At {
			first = m
		}
	}
	for i := range a.Findings {
		if f := &a.Findings[i]; f.Object == name || "Node/"+f.Node == name {
			earlier(&f.From)
		}
	}
	if first != nil {
		return first
	}
	for i := range a.Nodes {
		for j := range a.Nodes[i].Waits {
			if w := &a.Nodes[i].Waits[j]; w.Object == name {
				earlier(&w.From)
			}
		}
	}
	return first
}
