package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/policy"
)

// input is a hash of which tapes are asked for, and of the policies: results with another one are of another test.
func input(q *store.Query, policies []*policy.Policy) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q\n", q.Cluster, q.Group, q.Outcome, q.Since.UTC().Format(time.RFC3339Nano), q.Until.UTC().Format(time.RFC3339Nano))
	for _, p := range policies {
		for i := range p.Rules {
			r := &p.Rules[i]
			fmt.Fprintf(h, "%q %q %q %q %q %q %q %q\n", p.Name, r.Name, r.Over, r.Severity, r.Where, r.Expression, r.Message, r.MessageExpression)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
