package recorder_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
)

func refused(sec int, name string) string {
	return fmt.Sprintf(`{"t":"2026-11-20T10:00:%02dZ","resource":"pods","refused":{"namespace":"shop","name":%q,"budget":"web","by":"kubectl/v1.36.3","reason":"needs 2 healthy pods and has 2; token=hunter2hunter2"}}`+"\n", sec, name)
}

// A refused eviction is a line of its own, also in the middle of a list, and keeps no credential.
func TestImportOfRefusals(t *testing.T) {
	web := strings.Replace(pod("web", "a"), `"metadata":{`, `"metadata":{"resourceVersion":"9",`, 1)
	end := strings.Replace(endMark("20"), `"Node"`, `"Pod"`, 1)
	dump := captured(0, "pods", "ADDED", web) + refused(0, "web") + captured(0, "pods", "BOOKMARK", end) + refused(3, "gone")
	_, tape, err := imported(t, dump, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"type":"REFUSED","resource":"pods","namespace":"shop","name":"web","reason":"needs 2 healthy pods and has 2; `,
		`"budget":"web","by":"kubectl/v1.36.3"}`, `"name":"gone"`,
	} {
		if !strings.Contains(tape, want) {
			t.Errorf("found no %s on the tape:\n%s", want, tape)
		}
	}
	if strings.Contains(tape, "hunter2") {
		t.Errorf("found a credential on the tape:\n%s", tape)
	}
	for _, bad := range []string{
		strings.Replace(refused(0, "web"), `"pods"`, `"nodes"`, 1), strings.Replace(refused(0, "web"), `"name":"web"`, `"name":""`, 1),
	} {
		if _, _, err := imported(t, bad, nil); err == nil || !strings.Contains(err.Error(), "want pods and a name") {
			t.Errorf("found %v of %s", err, bad)
		}
	}
}

// With a scope, those of pods outside of it are counted; a tape may have nothing but refusals.
func TestImportOfRefusalsInScope(t *testing.T) {
	green := strings.Replace(obj("a", "7", 0, 0), `"metadata":{`, `"metadata":{"labels":{"pool":"green"},`, 1)
	dump := captured(0, "nodes", "ADDED", green) + refused(5, "elsewhere")
	for selector, want := range map[string]bool{"": true, "pool=green": false} {
		_, tape, err := imported(t, dump, func(o *recorder.ImportOptions) { o.Scope.Selector = selector })
		if err != nil || strings.Contains(tape, "REFUSED") != want {
			t.Errorf("selector %q: found %v and\n%s", selector, err, tape)
		}
	}
}
