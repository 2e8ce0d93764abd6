package fault_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

// The README shows what is between the two lines "// README", and says
// what comes out without and with the fault.
func TestTheREADMEFindsABug(t *testing.T) {
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(string(source), "// README\n")[1]
	shown = strings.ReplaceAll(shown, "../../", "")
	if !strings.Contains(string(readme), "```go\n"+shown+"```") {
		t.Errorf("README.md doesn't show this code:\n%s", shown)
	}
	if n := drained(t); n != 3 {
		t.Errorf("found %d drains without a fault, want all 3", n)
	}
	if n := drained(t, "unobserved"); n != 0 {
		t.Errorf("found %d drains with unobserved, want none: the README says so", n)
	}
}

// README
// drained counts the drains of a roll. It has a bug: it counts only those whose update it sees.
func drained(t *testing.T, faults ...string) (count int) {
	synctest.Test(t, func(t *testing.T) { // in here, back-offs take no time
		roll := fakeclient.ForTest(t, timeline.File("../../examples/surge.yaml"), fault.Inject(faults...))
		_, err := roll.Informers.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(old, now any) {
				if !old.(*corev1.Node).Spec.Unschedulable && now.(*corev1.Node).Spec.Unschedulable {
					count++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		roll.Play()
	})
	return count
}

// README
