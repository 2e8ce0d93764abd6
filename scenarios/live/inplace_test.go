package live

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// The first pod that has failed is why the roll has: also one whose resize the server refuses. What is tried again, such as
// a write that the server didn't answer, is no failure.
func TestTheFirstPodThatHasFailedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		action roller.Action
		err    error
		code   string
	}{
		"refused":      {roller.Action{Kind: roller.Trigger}, fmt.Errorf("%w: no room", podupdate.ErrRefused), podupdate.ReasonRefused},
		"deferred":     {roller.Action{Kind: roller.Fail, Reason: podupdate.ReasonDeferred}, nil, podupdate.ReasonDeferred},
		"not answered": {roller.Action{Kind: roller.Trigger}, errors.New("connection refused"), ""},
		"begun":        {roller.Action{Kind: roller.Trigger}, nil, ""},
	} {
		p := &podRoll{r: &run{Runner: &Runner{file: &scenarios.File{File: spec.File{Roll: &spec.Roll{}}}}}}
		p.done(c.action, c.err)
		code := ""
		if p.failure != nil {
			code = p.failure.code
		}
		if code != c.code {
			t.Errorf("%s: found failure %q, want %q", name, code, c.code)
		}
	}
}
