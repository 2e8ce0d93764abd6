package tapediff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

const why = "a simulation has no kwok"

// without leaves out what the rows of TestExclusions are about.
func without(t *testing.T) *timeline.Reader {
	events := changed(t, "events", func(ev timeline.Event, o object) {
		if o["reason"] == "RegisteredNode" {
			o["reason"] = "Hello"
		}
	})
	conditions := changed(t, "pods", func(_ timeline.Event, o object) {
		list := []any{}
		o.at("status").each("conditions", func(c object) {
			if c["type"] != "Initialized" {
				list = append(list, map[string]any(c))
			}
		})
		o.at("status")["conditions"] = list
	})
	taints := changed(t, "nodes", func(_ timeline.Event, o object) {
		o.at("spec").each("taints", func(taint object) {
			if taint["key"] == "node.kubernetes.io/unschedulable" {
				delete(taint, "timeAdded")
			}
		})
	})
	return edited(t, "surge", func(ev timeline.Event) []timeline.Event {
		return taints(conditions(events(ev)[0])[0])
	})
}

func TestExclusions(t *testing.T) {
	rows := []tapediff.Exclusion{
		{Kind: "Node", Reason: "RegisteredNode", Component: "node-controller", Source: why},
		{Kind: "Node", Reason: "Hello", Component: "node-controller", Source: why},
		{Kind: "Pod", Reason: "Initialized", Component: tapediff.Conditions, Source: why},
		{Kind: "Node", Reason: "node.kubernetes.io/unschedulable:NoSchedule", Component: tapediff.Taints, Source: why},
	}
	whole := compare(t, tape(t, "surge"), without(t), tapediff.Options{Exclude: rows})
	if !whole.Equal() || whole.Excluded == 0 {
		t.Errorf("with all rows: found %s", whole)
	}
	if err := tapediff.Unused(rows, whole); err != nil {
		t.Error(err)
	}
	for i := range rows {
		fewer := append(append([]tapediff.Exclusion{}, rows[:i]...), rows[i+1:]...)
		if compare(t, tape(t, "surge"), without(t), tapediff.Options{Exclude: fewer}).Equal() {
			t.Errorf("without the row %s: found no difference", rows[i])
		}
	}
	// A row that a single one of several comparisons needs is used.
	other := compare(t, tape(t, "stuck-drain"), tape(t, "stuck-drain"), tapediff.Options{Exclude: rows})
	if err := tapediff.Unused(rows, other, whole); err != nil {
		t.Error(err)
	}
	err := tapediff.Unused(rows, other)
	if err == nil || !strings.Contains(err.Error(), "row Node Hello node-controller: found nothing that it excludes") {
		t.Errorf("unused rows: found %v, want them named", err)
	}
}

func TestExclusionsAreFewAndSayWhy(t *testing.T) {
	row := func(i int) tapediff.Exclusion {
		return tapediff.Exclusion{Kind: "Pod", Reason: fmt.Sprintf("R%d", i), Component: "kubelet", Source: why}
	}
	var many []tapediff.Exclusion
	for i := range tapediff.MaxExclusions + 1 {
		many = append(many, row(i))
	}
	if err := tapediff.CheckExclusions(many[:tapediff.MaxExclusions]); err != nil {
		t.Error(err)
	}
	silent := row(1)
	silent.Source = " "
	for wanted, rows := range map[string][]tapediff.Exclusion{
		"found 31 rows, want at most 30":     many,
		"row 2 (Pod R1 kubelet): want kind,": {row(0), silent},
		"row 3 (Pod R0 kubelet): found it t": {row(0), row(1), row(0)},
	} {
		_, err := tapediff.Compare(tape(t, "surge"), tape(t, "surge"), tapediff.Options{Exclude: rows})
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("found error %v, want %q in it", err, wanted)
		}
	}
}
