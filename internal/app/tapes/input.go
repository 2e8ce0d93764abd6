package tapes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/policy"
)

// Input is a hash of which tapes are asked for, of the policies, and of more that a work depends on: results with another one are of
// another work.
func Input(q *store.Query, policies []*policy.Policy, more ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q\n", q.Cluster, q.Group, q.Outcome, q.Since.UTC().Format(time.RFC3339Nano), q.Until.UTC().Format(time.RFC3339Nano))
	for _, p := range policies {
		for i := range p.Rules {
			r := &p.Rules[i]
			fmt.Fprintf(h, "%q %q %q %q %q %q %q %q\n", p.Name, r.Name, r.Over, r.Severity, r.Where, r.Expression, r.Message, r.MessageExpression)
		}
	}
	for _, text := range more {
		fmt.Fprintf(h, "%q\n", text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
