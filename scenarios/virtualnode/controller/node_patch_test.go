package controller

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// applied is the node after a patch of its status.
func applied(t *testing.T, live *corev1.Node, patch []byte) *corev1.Node {
	t.Helper()
	before, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, corev1.Node{})
	if err != nil {
		t.Fatal(err)
	}
	out := &corev1.Node{}
	if err := json.Unmarshal(after, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func patchOf(t *testing.T, desired, live *corev1.Node) []byte {
	t.Helper()
	patch, err := statusPatch(desired, live)
	if err != nil {
		t.Fatal(err)
	}
	return patch
}

// What is applied twice changes nothing the second time, and needs no patch.
func TestPatchSettles(t *testing.T) {
	live := node("virtual")
	live.UID = "u"
	desired := node("virtual")
	desired.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.5")}
	desired.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	live = applied(t, live, patchOf(t, desired, live))
	if patch := patchOf(t, desired, live); string(patch) != emptyPatch {
		t.Errorf("found the patch %s for a node that is as it should be, want %s", patch, emptyPatch)
	}
}

// A patch holds the UID of the node that it was made for.
func TestPatchHoldsUID(t *testing.T) {
	live := node("virtual")
	live.UID = "u"
	if patch := patchOf(t, node("virtual"), live); !strings.Contains(string(patch), `"uid":"u"`) {
		t.Errorf("found %s, want the UID in it", patch)
	}
}

// A dual-stack node has two addresses of one type; both arrive, and go when they are given up.
func TestPatchOfAddresses(t *testing.T) {
	live, desired := node("virtual"), node("virtual")
	four, six := corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "fd00::1"}
	for _, want := range [][]corev1.NodeAddress{{four}, {four, six}, {six, four}, {six}} {
		desired.Status.Addresses = want
		live = applied(t, live, patchOf(t, desired, live))
		if d := cmp.Diff(want, live.Status.Addresses); d != "" {
			t.Errorf("addresses (-want +got):\n%s", d)
		}
	}
}

func TestPatchOfBadMemory(t *testing.T) {
	for _, key := range []string{annotationStatus, annotationMeta} {
		for _, text := range []string{"", "{", `"text"`, `[]`, `{"conditions":7,"labels":7}`} {
			live := node("virtual")
			live.Annotations = map[string]string{annotationStatus: "{}", annotationMeta: "{}"}
			live.Annotations[key] = text
			if _, err := statusPatch(node("virtual"), live); err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("annotation %s: %q: %v, want an error that names it", key, text, err)
			}
		}
	}
	live := node("virtual")
	live.Annotations = map[string]string{annotationStatus: "{"} // one alone counts for nothing
	if _, err := statusPatch(node("virtual"), live); err != nil {
		t.Errorf("one annotation alone: %v", err)
	}
}

// Whatever the provider says and others add, in any order: what the provider wants is there, what it gave up is gone, and
// what others added stays.
func TestPatchByRandomTrial(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		letters := func(prefix string) map[string]string {
			out := map[string]string{}
			for _, l := range []string{"a", "b", "c"} {
				if random.IntN(2) == 0 {
					out[prefix+l] = string(rune('0' + random.IntN(3)))
				}
			}
			return out
		}
		says := func(n *corev1.Node, prefix string) {
			n.Labels, n.Annotations, n.Status.Conditions = letters(prefix), letters(prefix), nil
			for kind, text := range letters(prefix) {
				n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(kind), Message: text})
			}
		}
		live, desired, foreign := node("virtual"), node("virtual"), node("virtual")
		live.UID = "u"
		for range 8 {
			if random.IntN(2) == 0 {
				says(foreign, "foreign-")
				for _, maps := range [][2]*map[string]string{{&live.Labels, &foreign.Labels}, {&live.Annotations, &foreign.Annotations}} {
					kept := map[string]string{}
					for k, v := range *maps[0] {
						if !strings.HasPrefix(k, "foreign-") {
							kept[k] = v
						}
					}
					for k, v := range *maps[1] {
						kept[k] = v
					}
					*maps[0] = kept
				}
				var conditions []corev1.NodeCondition
				for _, c := range live.Status.Conditions {
					if !strings.HasPrefix(string(c.Type), "foreign-") {
						conditions = append(conditions, c)
					}
				}
				live.Status.Conditions = append(conditions, foreign.Status.Conditions...)
			} else {
				says(desired, "own-")
			}
			live = applied(t, live, patchOf(t, desired, live))
			want, got := map[string]string{}, map[string]string{}
			for _, n := range []*corev1.Node{desired, foreign} {
				describe(want, n)
			}
			describe(got, live)
			delete(got, "annotation "+annotationMeta)
			delete(got, "annotation "+annotationStatus)
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("seed %d (-want +got):\n%s", seed, d)
			}
		}
	}
}

func describe(into map[string]string, n *corev1.Node) {
	for k, v := range n.Labels {
		into["label "+k] = v
	}
	for k, v := range n.Annotations {
		into["annotation "+k] = v
	}
	for _, c := range n.Status.Conditions {
		into["condition "+string(c.Type)] = c.Message
	}
}

// A change that was reported before the one that the server has is made now; what hasn't changed keeps its time.
func TestTransitionsNeverGoBack(t *testing.T) {
	at := func(second int64) metav1.Time { return metav1.Unix(second, 0) }
	nodeWith := func(status corev1.ConditionStatus, transition metav1.Time) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: status, LastTransitionTime: transition},
		}}}
	}
	for name, c := range map[string]struct {
		wished, live *corev1.Node
		want         metav1.Time
	}{
		"changed before the live one": {nodeWith("False", at(1)), nodeWith("Unknown", at(7)), at(9)},
		"changed after it":            {nodeWith("False", at(8)), nodeWith("Unknown", at(7)), at(8)},
		"the same":                    {nodeWith("False", at(1)), nodeWith("False", at(7)), at(7)},
		"a new condition":             {nodeWith("False", at(1)), &corev1.Node{}, at(1)},
		"the same, which another has made after the heartbeat began":  {nodeWith("False", at(1)), nodeWith("False", at(12)), at(12)},
		"changed before one that is later than the heartbeat's begin": {nodeWith("False", at(1)), nodeWith("Unknown", at(12)), at(12)},
	} {
		p := readiness{heartbeat: at(9)}
		got := following(composed(c.wished, p), c.live, p).Status.Conditions[0]
		if !got.LastTransitionTime.Equal(&c.want) {
			t.Errorf("%s: the transition is at %s, want %s", name, got.LastTransitionTime, c.want)
		}
		if got.LastHeartbeatTime.Before(&got.LastTransitionTime) {
			t.Errorf("%s: the heartbeat is at %s: want it not before the transition at %s", name, got.LastHeartbeatTime, got.LastTransitionTime)
		}
	}
}

// A change that a provider reports while a heartbeat is under way isn't after it.
func TestNoTransitionAfterItsHeartbeat(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(10, 0)},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Unix(1, 0)},
	}}}
	for i, want := range []int64{10, 9} {
		got := composed(node, readiness{heartbeat: metav1.Unix(9, 0)}).Status.Conditions[i]
		if got.LastHeartbeatTime.Unix() != want {
			t.Errorf("%s: found a heartbeat at %d s, want %d s", got.Type, got.LastHeartbeatTime.Unix(), want)
		}
	}
}
