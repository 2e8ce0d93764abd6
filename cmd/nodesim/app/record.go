package app

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/recorder"
	"github.com/spf13/cobra"
)

func newRecord() *cobra.Command {
	var o record.Options
	var scope scopeFlags
	var daemon daemonFlags
	var name string
	cluster := newConnectionFlags()
	cmd := &cobra.Command{
		Use:   "record --out FILE | --daemon --dir FOLDER",
		Short: "Record what happens to nodes, from a live cluster",
		Long: `Record what happens to nodes and what runs on them, from a live cluster, until
ctrl-c, until --duration is over, or with --until-complete until every node of
the group is new and Ready. A group without a node is refused as misspelt; with
--wait the recording begins when its first node is there.

Every event that the API server delivers is on the tape, or a gap says where one
may be missing; then the exit status is 3. The tape is readable at any moment,
and after any end of the program, up to its last line.

Of each kind the tape has the fields that a roll needs; of kinds that nodesim
doesn't know, identity, labels, owners, conditions, counts and times. In what is
kept, passwords in URLs, PEM blocks, and tokens and keys of known shapes read
"redacted". Secrets are always refused. Messages of Events are kept.

With --daemon it records until it is ended, keeps the last minutes in --dir, and
makes a tape there of each roll that begins, with what led to it.

The cluster is only read: list and watch of the resources, and get of the namespace
kube-system, which tells clusters apart. --daemon writes the Lease of --leader-elect
and the Events of --events, and nothing else.`,
		GroupID: "make",
		Example: examples(`
			nodesim record --nodegroup spot-burst --until-complete --out roll.yaml
			nodesim record --nodegroup spot-burst --wait --out roll.yaml
			nodesim record -l karpenter.sh/nodepool=default --duration 30m --out drift.yaml.zst
			nodesim record --resources nodes,pods,machinesets.cluster.x-k8s.io --out capi.yaml
			nodesim record --append --out roll.yaml
			nodesim record --daemon --dir /var/lib/nodesim`),
		Args:              arguments(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	outFlag(cmd, &o.File)
	flags.StringVar(&name, "name", "", "`NAME` of the tape (default: the name of FILE)")
	flags.StringSliceVar(&o.Config.Resources, "resources", nil, "resources to record, as kubectl names them (default "+strings.Join(recorder.DefaultResources(), ",")+", and NodeClaims and Machines where there are any)")
	flags.DurationVar(&o.Config.Duration, "duration", 0, "stop after this time")
	flags.BoolVar(&o.UntilComplete, "until-complete", false, "stop when the roll is over")
	flags.BoolVar(&o.Config.Wait, "wait", false, "wait for the first node of the group, or that matches the selector, instead of failing without one")
	flags.BoolVar(&o.Config.Full, "full", false, "keep whole objects, but for managedFields; Secrets stay refused, and credentials of known shapes masked")
	flags.BoolVar(&o.Append, "append", false, "continue the tape in FILE, if there is one")
	scope.add(cmd)
	daemon.add(cmd)
	cluster.bind(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if daemon.on {
			if err := errors.Join(daemon.check(), scope.check()); err != nil {
				return err
			}
			o.Config.Scope = scope.scope()
			return daemon.run(cmd, cluster, o.Config)
		}
		if err := errors.Join(needOut(o.File), scope.check()); err != nil {
			return err
		}
		if o.Config.Wait && scope.nodegroup == "" && scope.selector == "" && !o.Append {
			return usagef("flag --wait: want --nodegroup or --selector with it: without them a recording begins with whatever nodes there are")
		}
		if flags.Changed("duration") && o.Config.Duration <= 0 {
			return usagef("flag --duration %q: want more than 0, such as %s", o.Config.Duration, 10*time.Minute)
		}
		from, err := destinationOf(cluster)
		if err != nil {
			return err
		}
		o.Config.REST = from.rest
		o.Config.Name, o.Named, o.Config.Scope = nameOf(name, o.File), name != "", scope.scope()
		o.Status = &record.Status{Out: cmd.ErrOrStderr(), Width: terminal.Width(cmd.ErrOrStderr())}
		boundMemory(recordMemory)
		defer frugal(cmd.Context())()
		sum, err := record.Run(cmd.Context(), o)
		if sum.Events > 0 {
			record.Summarize(cmd.ErrOrStderr(), o.File, sum)
		}
		if err != nil {
			return err
		}
		return gapsIn(o.File, sum)
	}
	return cmd
}

// recordMemory is the limit that a recording tries to stay under. The objects of a large
// cluster take a third of it; without a limit the collector lets garbage grow
// to as much again.
const recordMemory = 400 << 20

// boundMemory sets a limit unless GOMEMLIMIT has.
func boundMemory(limit int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
}

const (
	// recordSmall is the size of the objects of a cluster, in bytes, up to which a recording gathers least garbage.
	recordSmall = 24 << 20
	// recordLeast and recordMost are how much garbage a recording gathers, in percent of what lives, in small clusters and in
	// large ones. Nearly all that it reads is garbage as soon as it is on the tape. In a small cluster that is most of its
	// memory; in a large one less would cost a third more CPU.
	recordLeast, recordMost = 15, 50
	// recordLook is the interval at which it is looked what lives.
	recordLook = time.Second
)

// frugal has a recording gather little garbage. A user that sets GOGC knows better. The watch over it ends with the
// context; end waits for that.
func frugal(ctx context.Context) (end func()) {
	is := recordLeast
	return record.GovernGC(ctx, recordLook, func(live, _ uint64) int {
		is = recordPercent(live, is)
		return is
	})
}

// recordPercent is GOGC for so many bytes that live, where it was so much before. It doesn't change at each look.
func recordPercent(live uint64, before int) int {
	switch {
	case live > recordSmall:
		return recordMost
	case live < recordSmall/2:
		return recordLeast
	}
	return before
}
