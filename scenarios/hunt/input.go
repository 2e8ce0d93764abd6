package hunt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// drawing is the way in which cases are drawn. Another one has other cases of the same numbers: it changes with package variant.
const drawing = 1

// Input is a hash of what the cases of a search through a space and their judgement depend on, but for the seed: results with another
// one are of another search. The file is the one of which the space was made. Where its timings were read from doesn't count: shards read
// copies.
func Input(f *spec.File, parameters []spec.Parameter, space *variant.Space, policies []*policy.Policy) (string, error) {
	if f.Measured != nil {
		c, m := *f, *f.Measured
		m.Name = ""
		c.Measured, f = &m, &c
	}
	h := sha256.New()
	e := json.NewEncoder(h)
	parts := []any{drawing, f, parameters, space.Faults}
	if len(space.Roll) > 0 {
		parts = append(parts, space.Roll)
	}
	for _, part := range parts {
		if err := e.Encode(part); err != nil {
			return "", err
		}
	}
	for _, p := range policies {
		for i := range p.Rules {
			r := &p.Rules[i]
			if err := e.Encode([]string{p.Name, r.Name, string(r.Over), string(r.Severity), r.Where, r.Expression}); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
