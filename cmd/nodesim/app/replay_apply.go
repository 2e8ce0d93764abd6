package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apply"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// applyFlags are those of replay that concern a cluster.
type applyFlags struct {
	on, cleanup, dry bool
	known            string
	cluster          *connectionFlags
	connect, own     *pflag.FlagSet
}

func (f *applyFlags) add(cmd *cobra.Command) {
	f.cluster, f.connect, f.own = newConnectionFlags(), pflag.NewFlagSet("connection", pflag.ContinueOnError), pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	cmd.Flags().BoolVar(&f.on, "to-cluster", false, "write the tape into the cluster of the kubeconfig, at 1x or --speed, instead of showing it")
	f.own.BoolVar(&f.cleanup, "cleanup", false, "remove what replays of this tape have written, and play nothing")
	f.own.BoolVar(&f.dry, "dry-run", false, "print what would be written, and write nothing")
	f.own.StringVar(&f.known, "i-know-this-cluster", "", "write although the cluster has nodes of its own; names the kubeconfig's `CONTEXT`")
	section(applySection, f.own)
	f.cluster.bind(f.connect)
	f.own.AddFlagSet(f.connect)
	want(f.own, "to-cluster")
	cmd.Flags().AddFlagSet(f.own)
	exclude(cmd, "to-cluster", "--to-cluster shows nothing",
		"output", "verbose", "nodegroup", "provider", "target", "pods", "namespace", "start-paused")
	exclude(cmd, "dry-run", "--dry-run keeps no pace", "speed", "idle-limit", "loop")
	exclude(cmd, "cleanup", "--cleanup plays nothing", "speed", "idle-limit", "loop", "from", "to")
}

// toCluster writes the tape into a cluster.
func (f *replayFlags) toCluster(cmd *cobra.Command, tape *ui.Tape, args []string) (err error) {
	defer func() { err = suppressBrokenPipe(err) }()
	defer cancelOnBrokenPipe(cmd)()
	to, err := destinationOf(f.apply.cluster)
	if err != nil {
		return err
	}
	opts := []apply.Option{apply.OnRetry(rateLimited(func(err error) { warn(cmd.ErrOrStderr(), "trying again: %s", err) }))}
	switch {
	case f.apply.known == to.name && to.name != "":
		opts = append(opts, apply.KnownCluster())
	case f.apply.known != "":
		return usagef("flag --i-know-this-cluster %q: the kubeconfig's context in use is %q", f.apply.known, to.name)
	}
	how := append(f.options(1), replay.From(f.from.Duration), replay.To(f.to.Duration))
	if f.loop {
		how = append(how, replay.Loop())
	}
	if f.apply.dry {
		how = append(how, replay.WithSpeed(replay.Max))
		opts = append(opts, apply.DryRun(), apply.OnStep(func(s apply.Step) {
			fmt.Fprintf(cmd.OutOrStdout(), "%-12s %s\n", noderoll.AppendStamp(nil, s.At), noderoll.OneLine(s.String()))
		}))
	}
	player, err := replay.NewPlayer(tape.Source(), how...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, player.Close()) }()
	a, err := apply.New(to.rest, player, opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	report, err := f.apply.execute(cmd, a)
	if broken := unread(cmd.Context()); broken != nil {
		f.apply.tidy(cmd, a)
		return broken
	}
	switch touched := report.Touched(); {
	case touched > 0 || len(report.Skipped)+len(report.Changed) > 0:
		fmt.Fprint(cmd.ErrOrStderr(), report)
	case f.apply.cleanup && err == nil:
		fmt.Fprintf(cmd.ErrOrStderr(), "nothing to take away: no object is labelled %s=%s\n", apply.Label, apply.LabelValue(player.Header().Metadata.Name))
	}
	var foreign *apply.ForeignNodesError
	switch {
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: --i-know-this-cluster=%s", err, record.Quote(to.name))
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("interrupted at %s", noderoll.AppendStamp(nil, report.Position))
	}
	if report.Changes > 0 && !f.apply.dry {
		word := record.Quote(strings.Join(args, ""))
		if f.scenario.word != "" {
			word = "--simulate " + record.Quote(f.scenario.word)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "what was written is still there; it is taken away by: nodesim replay %s --to-cluster --cleanup%s\n", word, wayTo(f.apply.connect))
	}
	return err
}

// execute runs the verb, with a line on progress now and then.
func (f *applyFlags) execute(cmd *cobra.Command, a *apply.Applier) (apply.Report, error) {
	ctx := cmd.Context()
	if f.cleanup {
		return a.Cleanup(ctx)
	}
	if err := a.Open(ctx); err != nil || f.dry {
		if err != nil {
			return a.Report(), err
		}
		return a.Run(ctx)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the initial state is written: %d objects\n", a.Report().Changes)
	done := make(chan struct{})
	var line sync.WaitGroup
	defer line.Wait()
	defer close(done)
	line.Go(func() { progress(cmd.ErrOrStderr(), a, done) })
	return a.Run(ctx)
}

// tidying is the time tidy may take.
const tidying = 2 * time.Minute

// tidy takes away what was written: where no user reads the output, none learns how
// to do it. Where it can't be done, the other of standard output and error may still
// have a reader.
func (f *applyFlags) tidy(cmd *cobra.Command, a *apply.Applier) {
	if f.dry || f.cleanup {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidying)
	defer cancel()
	if _, err := a.Cleanup(ctx); err != nil {
		warn(cmd.ErrOrStderr(), "what was written is still there: %s; --cleanup takes it away", err)
	}
}

// progress says every few seconds how far it is.
func progress(w io.Writer, a *apply.Applier, done <-chan struct{}) {
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			r := a.Report()
			fmt.Fprintf(w, "%s: %d changes, %d requests\n", noderoll.AppendStamp(nil, r.Position), r.Changes, r.Requests)
		}
	}
}
