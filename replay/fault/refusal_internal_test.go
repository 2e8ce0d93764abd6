package fault

import (
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/replay"
)

func TestEveryRefusalHasItsAnswer(t *testing.T) {
	for _, k := range faultspec.Kinds() {
		if k.Hits != faultspec.Request || k.Name == "stale-list" { // which is answered from the past
			continue
		}
		r := &rule{spec: faultspec.Spec{Kind: k.Name}}
		if err := refusal(r, replay.Request{Verb: "get"}); err == nil || strings.Contains(err.Error(), unanswered) {
			t.Errorf("%s: found %v, want a case of its own in refusal", k.Name, err)
		}
	}
}
