package scenarios_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A roll of any provider's that is cut short and resumed ends as it would have,
// with as many nodes: also on its way back, where the new nodes never get Ready, and
// where images can't be pulled on them.
func TestLiveAdoptRolls(t *testing.T) {
	for _, name := range []string{
		"aks-reimage", "capi-rollout", "gke-blue-green", "gke-surge", "insufficient-capacity", "ip-exhaustion", "kops-rolling",
		"never-ready", "pull-backoff", "rollback", "skew-stall", "surge", "undersized", "zone-outage",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, wall := runLive(t, name)
			begin(t, w)
			play(t, w, wall, func() bool { return false })
			want, nodes, end := w.p.Outcomes(), len(w.nodes), w.p.Now()
			const moments = 8
			for k := range moments {
				at := end * time.Duration(2*k+1) / (2 * moments)
				t.Run(fmt.Sprint(at), func(t *testing.T) {
					w, wall := runLive(t, name)
					begin(t, w)
					play(t, w, wall, func() bool { return w.p.Now() >= at })
					if over := len(w.p.Outcomes()) > 0; over {
						return // what is noted of that, and what follows, is another test's
					}
					w.goOn(t, name)
					if err := w.p.Begin(); err != nil {
						t.Fatal(err)
					}
					play(t, w, wall, func() bool { return false })
					if o := w.p.Outcomes(); !slices.Equal(o, want) || len(w.nodes) != nodes {
						t.Errorf("outcomes %q with %d nodes, want %q with %d", o, len(w.nodes), want, nodes)
					}
				})
			}
		})
	}
}
