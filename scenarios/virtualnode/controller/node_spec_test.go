package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func taint(key, value string) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule}
}

func TestMergeTaints(t *testing.T) {
	type taints = []corev1.Taint
	cordon := taint(corev1.TaintNodeUnschedulable, "")
	for name, c := range map[string]struct {
		live, wanted, applied, want taints
		changed                     bool
	}{
		"nothing":                  {},
		"wanted and there":         {live: taints{taint("own", "1")}, wanted: taints{taint("own", "1")}, want: taints{taint("own", "1")}},
		"wanted and gone":          {live: taints{cordon}, wanted: taints{taint("own", "1")}, want: taints{cordon, taint("own", "1")}, changed: true},
		"wanted with another text": {live: taints{taint("own", "1"), cordon}, wanted: taints{taint("own", "2")}, want: taints{taint("own", "2"), cordon}, changed: true},
		"given up":                 {live: taints{cordon, taint("own", "1")}, applied: taints{taint("own", "1")}, want: taints{cordon}, changed: true},
		"of others":                {live: taints{cordon, taint("theirs", "")}, want: taints{cordon, taint("theirs", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed := MergeTaints(c.live, c.wanted, c.applied)
			if len(got)+len(c.want) > 0 && !cmp.Equal(got, c.want) || changed != c.changed {
				t.Errorf("found %v, %v, want %v, %v", got, changed, c.want, c.changed)
			}
		})
	}
}

// A node that was cordoned and tainted by others stays so; own taints come back, and go when they are given up.
func TestSpecReconciliation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		c := f.controller(t, readyNode(), f.leases(), WithNodeSpecReconciliation())
		running(t.Context(), t, c)
		f.edit(func(n *corev1.Node) {
			n.Spec.Unschedulable = true
			n.Spec.Taints = []corev1.Taint{taint(corev1.TaintNodeUnschedulable, ""), taint("theirs", "")}
			n.Spec.ProviderID = ""
		})
		pass(DefaultStatusUpdateInterval)
		got := f.node().Spec
		want := corev1.NodeSpec{Unschedulable: true, ProviderID: "virtual:///1", Taints: []corev1.Taint{
			taint(corev1.TaintNodeUnschedulable, ""), taint("theirs", ""), taint("own", "1"),
		}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("spec (-want +got):\n%s", d)
		}

		without := readyNode()
		without.Spec.Taints = []corev1.Taint{taint(corev1.TaintNodeUnschedulable, "")} // copied from the server, and no wish
		f.say(t, without)
		want.Taints = want.Taints[:2]
		if d := cmp.Diff(want, f.node().Spec); d != "" {
			t.Errorf("spec after own taint was given up (-want +got):\n%s", d)
		}
		f.say(t, readyNode())
		f.forget()
		pass(10 * time.Minute)
		if f.requests("PATCH nodes/virtual") > 0 {
			t.Errorf("found %v, want no write of a spec that is as it should be", f.log)
		}
	})
}

// Without the option the spec is written at creation and never again.
func TestSpecIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode()))
		f.edit(func(n *corev1.Node) { n.Spec = corev1.NodeSpec{Unschedulable: true} })
		pass(10 * time.Minute)
		if got := f.node().Spec; !got.Unschedulable || len(got.Taints) > 0 || f.requests("PATCH nodes/virtual") > 0 {
			t.Errorf("found the spec %+v, want it as somebody left it", got)
		}
	})
}

// A reader of bad memory says which annotation it is.
func TestBadTaintMemory(t *testing.T) {
	live := node("virtual")
	live.Annotations = map[string]string{annotationTaints: "{"}
	if got, err := appliedTaints(live); err == nil {
		t.Errorf("found %v, want an error", got)
	}
}
