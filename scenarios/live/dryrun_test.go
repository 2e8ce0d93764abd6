package live

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios"
)

// What is there is adopted, used or in the way; what isn't is created.
func TestProspects(t *testing.T) {
	now := metav1.Now()
	object := func(name, label string) *corev1.ConfigMap {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		if label != "" {
			o.Labels = map[string]string{Label: label}
		}
		return o
	}
	ending := object("ending", "surge")
	ending.DeletionTimestamp, ending.Finalizers = &now, []string{"example.com/wait"}
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	g := &prerequisites{label: "surge", client: fake.NewSimpleDynamicClient(scheme.Scheme, object("ours", "surge"), object("theirs", ""), object("another's", "stuck-drain"), ending, shop)}
	var got []string
	for _, o := range []runtime.Object{
		shop.DeepCopy(), object("ours", ""), object("new", ""), object("ending", ""), object("theirs", ""), object("another's", ""),
	} {
		p, err := g.plan(o)
		if err != nil {
			t.Fatal(err)
		}
		line, err := g.prospect(t.Context(), p)
		if err != nil {
			line = "error: " + err.Error()
		}
		got = append(got, line)
	}
	want := []string{
		"use namespaces/shop, which stays",
		"adopt configmaps/shop/ours",
		"create configmaps/shop/new",
		"create configmaps/shop/ending, when the one that is being deleted is gone",
		`error: create configmaps/shop/theirs: configmaps "theirs" is forbidden: found one that no live run of surge has made: want it gone`,
		`error: create configmaps/shop/another's: configmaps "another's" is forbidden: found one that no live run of surge has made: want it gone`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// dryRunLines is what is said of the nodes and the roll where some are there already.
func dryRunLines(t *testing.T, file *scenarios.File, was checkpoint, nodes ...*corev1.Node) []string {
	t.Helper()
	p, err := New(&rest.Config{}, file)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Runner: p, nodes: nodes, lock: &checkpointLock{p: p, now: was}}
	var lines []string
	if err := r.dryRun(t.Context(), was, func(line string) { lines = append(lines, line) }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func counts(lines []string) map[string]int {
	verbs := map[string]int{}
	for _, l := range lines {
		verb, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		verbs[verb]++
	}
	return verbs
}

// A live run that was kept is told as what it is: its nodes are there.
func TestRehearsalOfWhatIsKept(t *testing.T) {
	file := shipped(t, "surge")
	server := &dryRunServer{}
	sim, err := scenarioSpecOf(file).simulate(scenarios.LiveConfig{APIServer: server, Speed: 1, Now: time.Now, ExternalRoller: true})
	if err != nil {
		t.Fatal(err)
	}
	sim.Seed()
	for i, n := range server.nodes {
		n.UID = types.UID(strings.Repeat("u", i+1))
	}
	size := len(server.nodes)
	if size < 2 {
		t.Fatalf("found %d nodes, want some", size)
	}
	none := counts(dryRunLines(t, file, checkpoint{}))
	if none["register"] != size || none["adopt"] != 0 || none["roll"] != 1 {
		t.Errorf("with nothing there: %v", none)
	}
	some := counts(dryRunLines(t, file, checkpoint{}, server.nodes[0]))
	if some["register"] != size-1 || some["adopt"] != 1 {
		t.Errorf("with a node of one that hadn't begun: %v", some)
	}
	all := counts(dryRunLines(t, file, checkpoint{Begun: true, At: "5s"}, server.nodes...))
	if all["register"] != 0 || all["adopt"] != size || all["roll"] != 1 {
		t.Errorf("with all nodes of one that had begun: %v", all)
	}
	over := dryRunLines(t, file, checkpoint{Begun: true, Rolled: true, At: "50m"}, server.nodes...)
	if got := over[len(over)-1]; got != "roll nothing: the roll is over" {
		t.Errorf("behind the roll: %q", got)
	}
}
