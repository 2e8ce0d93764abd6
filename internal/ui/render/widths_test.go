package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/noderoll"
)

// heldUp is a drain that a budget holds up, on nodes with the long names of a cloud.
func heldUp() Frame {
	const domain = ".eu-central-1.compute.internal"
	f := frame(snapshot(draining("ip-10-1-126-180"+domain, 2, 2), old("ip-10-2-63-92"+domain), fresh("ip-10-0-95-11"+domain)))
	f.Blocked = map[string]string{"ip-10-1-126-180" + domain: "shop/web-pdb"}
	blocked := entry(175000, noderoll.EvtBlocked, "ip-10-1-126-180"+domain)
	blocked.Object, blocked.Reason = "PodDisruptionBudget/shop/web-pdb", "DisruptionBudget"
	blocked.Message = "needs 6 healthy pods and has 6; 2 pods wait"
	failed := entry(900000, noderoll.EvtFailed, "")
	failed.Reason, failed.Message = "PodEvictionFailure", "Reached max retries while trying to evict pods from nodes in node group workers"
	f.Recent, f.Failed = []noderoll.Entry{blocked, failed}, failed.Message
	return f
}

// What holds a drain up is said whole, and nothing is cut where there is room: what
// all names share gives way first.
func TestWhatHoldsADrainUpIsSaidAtEveryWidth(t *testing.T) {
	var b strings.Builder
	for _, width := range []int{80, 100, 130, 200} {
		panel := Panel(heldUp(), Options{Width: width, Height: 24})
		for line := range strings.SplitSeq(panel, "\n") {
			if strings.Contains(line, "2 pods") && !strings.HasSuffix(line, "shop/web-pdb") && !strings.Contains(line, "drain blocked") {
				t.Errorf("%d columns: %q doesn't say what holds it up", width, line)
			}
		}
		if width >= 130 {
			wantText(t, panel, "▲ blocked by shop/web-pdb", "needs 6 healthy pods and has 6; 2 pods wait\n")
		}
		fmt.Fprintf(&b, "== %d ==\n%s\n", width, panel)
	}
	golden.Assert(t, "held-up-widths", b.String())
}
