package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/timeline"
)

const replacedTape = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: replaced}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","uid":"u-n","rv":"1","object":{"status":{"conditions":[{"type":"Ready","status":"True"}]}}}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
`

// A container's first restart after its image was changed, or resources that it is restarted for, is the update's; the
// others are its own, and those of its neighbours.
func TestUpdatesInPlaceAreNoRestarts(t *testing.T) {
	const size, other = `{"limits":{"cpu":"1"}}`, `{"limits":{"cpu":"2"}}`
	const policy = `,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`
	spec := func(image, resources, policy string) string {
		return `"spec":{"nodeName":"n","containers":[{"name":"web","image":"` + image + `","resources":` + resources + policy + `},{"name":"log","image":"l"}]}`
	}
	status := func(web, log int) string {
		return fmt.Sprintf(`"status":{"phase":"Running","containerStatuses":[{"name":"web","restartCount":%d},{"name":"log","restartCount":%d}],"initContainerStatuses":[{"name":"web","restartCount":0}]}`, web, log)
	}
	for name, c := range map[string]struct {
		policy            string
		patches           []string
		restarts, updates int
	}{
		"an image":               {"", []string{spec("b", size, ""), status(4, 1), status(5, 1), status(6, 1), status(7, 1)}, 3, 1},
		"an image at once":       {"", []string{spec("b", size, "") + "," + status(4, 1)}, 0, 1},
		"two images":             {"", []string{spec("b", size, ""), status(4, 1), spec("c", size, ""), status(5, 1)}, 0, 2},
		"another container":      {"", []string{spec("b", size, ""), status(3, 2), status(3, 3), status(3, 4), status(4, 4)}, 3, 1},
		"the same again":         {"", []string{spec("a", size, ""), status(4, 1), status(6, 1)}, 3, 0},
		"a resize":               {"", []string{spec("a", other, ""), status(4, 1), status(6, 1)}, 3, 0},
		"a resize that restarts": {policy, []string{spec("a", other, policy), status(4, 1), status(7, 1)}, 3, 1},
	} {
		lines := []string{`{"at":"0s","type":"ADDED","resource":"pods","namespace":"x","name":"p","uid":"u-p","rv":"2","object":{` + spec("a", size, c.policy) + "," + status(3, 1) + `}}`,
			`{"at":"0s","type":"SYNC","resource":"pods","rv":"2"}`}
		for i, patch := range c.patches {
			lines = append(lines, fmt.Sprintf(`{"at":"%ds","type":"MODIFIED","resource":"pods","namespace":"x","name":"p","rv":"%d","patch":{%s}}`, i+1, i+3, patch))
		}
		tapeText := replacedTape + "--- " + strings.Join(lines, "\n--- ") + "\n"
		a := tape{name, func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(tapeText)) }}.analyse(t, false)
		many := ""
		for i := range 20 {
			many += fmt.Sprintf(`,{"name":"c%d","image":"i"}`, i)
		}
		crowd := strings.ReplaceAll(tapeText, `,{"name":"log","image":"l"}`, many+`,{"name":"log","image":"l"}`)
		if b := (tape{name, func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(crowd)) }}).analyse(t, false).Workloads[0]; b.Restarts != c.restarts || b.Updates != c.updates {
			t.Errorf("%s: of many containers %d restarts and %d updates, want %d and %d", name, b.Restarts, b.Updates, c.restarts, c.updates)
		}
		if w := a.Workloads[0]; w.Restarts != c.restarts || w.Updates != c.updates {
			t.Errorf("%s: %d restarts and %d updates, want %d and %d", name, w.Restarts, w.Updates, c.restarts, c.updates)
		}
		if cell := fmt.Sprintf("  %d, %d update", c.restarts, c.updates); strings.Contains(text(t, a), cell) != (c.updates > 0) {
			t.Errorf("%s: got\n%s", name, text(t, a))
		}
		f := found(a, analysis.FindRestarts)
		if (f != nil) != (c.restarts >= 3) || f != nil && strings.HasSuffix(f.Text, ", besides 1 update in place") != (c.updates > 0) {
			t.Errorf("%s: finding %+v", name, f)
		}
	}
}
