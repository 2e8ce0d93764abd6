package app

import (
	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/spf13/cobra"
)

// serveFlags are those of serve, as they were given.
type serveFlags struct {
	replayFlags
	listen, kubeconfig string
	faults             []string
	writes             *choice
	writesOut          string
	engine             replay.Engine            // with --writes act
	do                 func(fault string) error // in the engine
	shift, exit        bool
	atRest             bool
	at                 position
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve FILE | --simulate SCENARIO",
		Short: "Serve a tape as a Kubernetes API that any client can watch",
		Long: `Serve a tape as a Kubernetes API: kubectl, informers, controllers and clients in any
language list and watch its objects, as the tape advances. It first prints the line
that connects them:

  export KUBECONFIG=…/nodesim-stuck-drain-1234.kubeconfig

On a terminal it shows the panel and takes the keys of replay; in a pipe it prints
the feed. nodesim ctl controls it from elsewhere. At the end of the tape it serves
the last state until ctrl-c; with --exit-at-end it ends there.

It listens on loopback alone unless --listen says otherwise, over TLS with a
certificate of its own, and answers no client without the token in the kubeconfig,
which is removed at the end.

A tape on standard input can't go back: it only seeks forward.

With --writes act a scenario isn't a tape, but a simulated cluster that takes writes
and lives on: scheduler, kubelets, controllers and provider answer to what kubectl
changes. --at-rest leaves out the scenario's own roll and faults. A tape with --at is
such a cluster too: it begins with what is there at that position, and goes on by itself.`,
		GroupID: "use",
		Example: examples(`
			nodesim serve --simulate stuck-drain
			nodesim serve --simulate surge --at-rest --writes act --speed 10x
			nodesim serve roll.yaml --at T+5m --writes act
			nodesim serve roll.yaml --speed 20x --listen 127.0.0.1:6443 --kubeconfig-out replay.kubeconfig
			nodesim serve roll.yaml --fault unobserved --fault 429:nodes,for=30s,at=T+1m
			nodesim serve roll.yaml --writes-out writes.jsonl --exit-at-end | grep draining`),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "the `ADDRESS` to listen on (default: a free port of loopback)")
	flags.StringVar(&f.kubeconfig, "kubeconfig-out", "", "write the kubeconfig to this `FILE` (default: a new temporary one)")
	flags.StringArrayVar(&f.faults, "fault", nil, "inject the fault `SPEC`, such as drop:nodes,p=0.1 or unobserved; may be repeated; docs/faults.md lists them")
	f.writes = newChoice("", "refuse", "record", "act")
	flags.Var(f.writes, "writes", "how writes are answered: refused with 405; as by a server, and recorded, while the tape continues; or kept, by a simulated cluster that acts on them (default: refuse)")
	flags.StringVar(&f.writesOut, "writes-out", "", "record writes, as lines of JSON at the end of this `FILE`")
	flags.BoolVar(&f.atRest, "at-rest", false, "with --writes act, leave out the scenario's roll and its faults")
	flags.Var(&f.at, "at", "with --writes act, begin with what is there at this position of the tape (default: its beginning)")
	flags.BoolVar(&f.shift, "shift-times", true, "move the times in objects to now, so that every client sees the ages of the tape; =false leaves them as recorded")
	flags.BoolVar(&f.exit, "exit-at-end", false, "end when the tape does and every watcher has been handed all of it")
	exclude(cmd, "loop", "a tape that begins again has no end", "exit-at-end")
	flags.Lookup("start-paused").Usage = "wait for the space key, or nodesim ctl, before the first event"
	_ = cmd.MarkFlagFilename("kubeconfig-out")
	_ = cmd.MarkFlagFilename("writes-out")
	suggest(cmd, "writes", f.writes.of...)
	_ = cmd.RegisterFlagCompletionFunc("listen", cobra.FixedCompletions([]string{"127.0.0.1:6443"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("fault", completeFault)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		open := f.tape
		if f.writes.value == "act" {
			open = f.act
		}
		tape, err := open(cmd, args)
		if err != nil {
			return err
		}
		if err := f.check(tape); err != nil {
			return err
		}
		return f.run(cmd, tape)
	}
	return cmd
}

// check refuses flags that contradict each other.
func (f *serveFlags) check(tape *ui.Tape) error {
	if err := f.checkPart(); err != nil {
		return err
	}
	switch {
	case f.loop && f.speed.Speed == replay.Max:
		return usagef("flag --loop: found --speed max with it: want a pace, such as 20x, since each time round ends all watches")
	case f.loop && tape.Streams():
		return usagef("flag --loop: standard input can be read once only: want a file")
	case f.at.given && f.engine == nil:
		return usagef("flag --at %s: a tape goes on as it was recorded: want --writes act with it, or --from in its place", f.at.String())
	case f.atRest && f.engine == nil:
		return usagef("flag --at-rest: a tape can't leave anything out: want --writes act with it")
	case f.writes.value == "refuse" && f.writesOut != "":
		return usagef("flag --writes-out %s: found --writes refuse with it: want --writes record, or neither", f.writesOut)
	}
	for _, text := range f.faults {
		if _, err := fault.Parse(text); err != nil {
			return usagef("flag --fault: %w", err)
		}
	}
	return nil
}

// completeFault suggests how the text of a fault may continue.
func completeFault(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, c := range faultspec.Complete(word) {
		words = append(words, c.Text+"\t"+c.Does)
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
