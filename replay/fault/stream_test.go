package fault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// What has fired, and what a raw watch of nodes delivers, under each fault. The
// position before is the last event's; what comes by itself between two comes
// at the former.
func TestStreams(t *testing.T) {
	var b strings.Builder
	for _, spec := range []string{
		"drop:pods", // nothing happens to nodes
		"drop:nodes,type=DELETED",
		"drop:nodes,when=node:old-a:cordoned",
		"drop:nodes,p=0.5,seed=1",
		"drop:nodes,selector=pool=old,at=12s,for=10s",
		"drop:no,event=2",
		"drop:Node,for=8s,count=1",
		"delay:nodes,by=4s,name=old-a",
		"delay:nodes,by=4h,event=7",
		"duplicate:nodes,times=3,type=DELETED",
		"coalesce:nodes,within=6s",
		"reorder:nodes",
		"slow:nodes,every=4s",
		"bookmarks",
		"recreate:nodes,name=new-c,type=MODIFIED,at=30s",
		"close:nodes,type=MODIFIED,name=old-*",
		"close,at=T+9s",
		"close:nodes,lose=DELETED",
		"gone:nodes,at=9s",
		"gone:nodes,event=2",
		"gone:nodes,in=open,when=node:old-a:cordoned",
		"stall:nodes,at=9s,for=12s",
		"stall:nodes,at=9s",
		"stale,by=6s",
		"stale:nodes,by=20s,at=25s",
		"unobserved",
		"unobserved:nodes,at=9s",
		"unobserved:nodes,type=ADDED",
		"unobserved:pods",
		"intermediate,within=2s",
	} {
		got, fired := follow(t, roll(), nodeGVR, spec)
		fmt.Fprintf(&b, "# %s\n", spec)
		for _, f := range fired {
			fmt.Fprintf(&b, "  %s\n", f)
		}
		for _, g := range got {
			fmt.Fprintln(&b, g)
		}
		fmt.Fprintln(&b)
	}
	golden.Assert(t, "streams", b.String())
}
