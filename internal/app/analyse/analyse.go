// Package analyse reads a file's tape for the verbs that tell of rolls, compare and judge them: a tape goes in, its analysis comes out.
package analyse

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/timeline"
)

// Pods are the pods whose rolls to look at, updated in place. Without a Selector the tape's header says what to look at.
type Pods struct{ Selector, Namespace string }

// Scope is what was asked for in place of what a tape's header says, as for observe.OptionsFor.
type Scope struct {
	Provider, Nodegroup, Target string
	Pods                        Pods
}

// Options are the nodes and pods of a tape that the scope names. Pods become those of the header.
func (s Scope) Options(tape *ui.Tape, h *timeline.Header) (observe.Options, error) {
	if s.Pods.Selector != "" {
		h.Scope.Pods, h.Scope.Namespace = s.Pods.Selector, s.Pods.Namespace
	}
	o, err := observe.OptionsFor(h, s.Provider, s.Nodegroup, s.Target)
	if err != nil {
		err = fmt.Errorf("tape %s: %w", tape.Name, err)
	}
	return o, err
}

// File analyses a tape in the scope that its header names, or in that of pods. stdin is the file "-".
func File(path string, stdin io.Reader, pods Pods, series bool) (*analysis.Analysis, error) {
	a, _, err := Tape(ui.File(path, stdin), Scope{Pods: pods}, series)
	return a, err
}

// Tape analyses a tape, and says what it lacks of a whole one.
func Tape(tape *ui.Tape, scope Scope, series bool) (_ *analysis.Analysis, lacks string, err error) {
	r, err := tape.Reader()
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o, err := scope.Options(tape, r.Header())
	if err != nil {
		return nil, "", err
	}
	a, err := analysis.Tape(r, analysis.Options{Options: o, Series: series})
	if unmatched := (*analysis.UnmatchedError)(nil); errors.As(err, &unmatched) {
		err = fmt.Errorf("tape %s: %w", tape.Name, err)
	}
	if err != nil {
		return nil, "", err
	}
	return a, ui.Shortfall(r), nil
}

// Check holds a tape against policies, in the scope of File, and says what it lacks of a whole one.
func Check(tape *ui.Tape, pods Pods, policies []*policy.Policy) (all []policy.Result, lacks string, err error) {
	series := false
	for _, p := range policies {
		series = series || p.NeedsSeries()
	}
	a, lacks, err := Tape(tape, Scope{Pods: pods}, series)
	if err != nil {
		return nil, "", err
	}
	for _, p := range policies {
		all = append(all, p.Check(a))
	}
	return all, lacks, nil
}

// Policies loads policies by their names or files.
func Policies(names []string) ([]*policy.Policy, error) {
	var all []*policy.Policy
	for _, name := range names {
		p, err := policy.Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// PolicyText is the text of a policy, by its name or file.
func PolicyText(name string) ([]byte, error) {
	if slices.Contains(policy.Shipped(), name) {
		return policy.Text(name)
	}
	return os.ReadFile(name)
}
