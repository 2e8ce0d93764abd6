package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/timeline"
	"github.com/spf13/cobra"
)

func newInspect() *cobra.Command {
	var check bool
	var pods podFlags
	var names []string
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Describe a tape, and check it",
		Long: `Describe a tape: how long it is, whether it is complete, where it has
gaps, how many events of each resource there are, and which rolls it shows.

The tape is read as lines, which takes seconds for a gigabyte. With --check
every object is put together, and checked against what every cluster obeys:

  - objects: uids, versions, generations, creation, deletion and its grace, times
  - nodes: conditions, heartbeats, and the taints that follow them and a cordon
  - pods: binding, phase, containers, address, the end, and orphans of dead nodes
  - budgets: the sums of their status, and evictions only as they grant them
  - Events: counts, times, which component may report what about a node, and when

A recording may have changes of different resources up to 2 s out of order, and
controllers a few seconds late; a simulation may not. Each violation is one
line that says where it is, what was found and what was wanted, each object
once for each invariant. docs/invariants.md lists them all with their sources.
A tape with violations, a bad one, and one that isn't complete fail.

With --policy its rolls are held against rules: of what nodes, workloads and budgets
may take and do. docs/policy.md says how they are written. These come with nodesim:
` + strings.Join(policy.Shipped(), ", ") + `.`,
		GroupID: "use",
		Example: examples(`
			nodesim inspect roll.yaml
			nodesim inspect roll.yaml.zst -o json | jq .rolls
			nodesim inspect --check roll.yaml
			nodesim inspect roll.yaml --policy budgets-kept --policy mine.yaml`),
		Args:              arguments(1, 1, "one tape"),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	cmd.Flags().BoolVar(&check, "check", false, "fail unless the tape is complete and obeys the invariants")
	pods.add(cmd, "tell of the rolls of the pods that match this label `SELECTOR`, updated in place (default: the tape's)")
	addPolicies(cmd, &names, "fail where the rolls violate this `POLICY`, a file or one that comes with nodesim; may be repeated")
	suggest(cmd, "output", format.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if err := pods.check(); err != nil {
			return err
		}
		if len(names) > 0 && args[0] == "-" {
			return usagef("flag --policy: found the tape on standard input: want a file, which is read twice")
		}
		policies, err := analyse.Policies(names)
		if err != nil {
			return err
		}
		tape := ui.File(args[0], cmd.InOrStdin()).Until(cmd.Context())
		opts := []timeline.ReadOption{timeline.Lines()}
		if check {
			opts = nil
		}
		r, err := tape.Reader(opts...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		if pods.pods != "" {
			scope := &r.Header().Scope
			scope.Pods, scope.Namespace = pods.pods, pods.namespace
		}
		var rep *inspect.Report
		var bad error
		if check {
			rep, bad = inspect.Check(r, inspect.CheckOptions(r.Header()))
		} else {
			rep, bad = inspect.Tape(r)
		}
		if fail := (*timeline.Error)(nil); errors.As(bad, &fail) && fail.Name == "" {
			fail.Name = tape.Name // what is found by line has no other
		}
		if bad != nil {
			return bad
		}
		if len(policies) > 0 {
			if rep.Policies, _, err = analyse.Check(tape, analyse.Pods{Selector: pods.pods, Namespace: pods.namespace}, policies); err != nil {
				return err
			}
		}
		if format.value == "json" {
			_, err = cmd.OutOrStdout().Write(rep.JSON())
		} else {
			err = rep.Text(cmd.OutOrStdout())
		}
		if err == nil && check && !rep.Complete {
			return notWhole(tape.Name, r)
		}
		if err == nil && rep.Unmatched != nil {
			return fmt.Errorf("tape %s: %w", tape.Name, rep.Unmatched)
		}
		if n := len(rep.Violations) + rep.MoreViolations; err == nil && n > 0 {
			found := "a violation"
			if n > 1 {
				found = fmt.Sprintf("%d violations", n)
			}
			return fmt.Errorf("check %s: found %s of invariants, listed above: want none; docs/invariants.md explains each", tape.Name, found)
		}
		for _, p := range rep.Policies {
			if err == nil && !p.Holds {
				return fmt.Errorf("tape %s: it violates the policy %s, as is shown above", tape.Name, p.Policy)
			}
		}
		return err
	}
	return cmd
}
