package app

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/spf13/cobra"
)

// replayFlags are those of replay, as they were given.
type replayFlags struct {
	nodegroup, target     string
	scenario              scenarioFlags
	provider, output      *choice
	speed                 speed
	from, to              position
	idle                  time.Duration
	loop, paused, verbose bool
	apply                 applyFlags
	pods                  podFlags

	typed  <-chan []byte  // at a terminal; nil elsewhere
	screen *render.Screen // of all rounds of a loop
	hold   func(*render.Screen) (release func())
}

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE | --simulate SCENARIO",
		Short: "Play a tape: a panel on a terminal, a feed in a pipe",
		Long: `Play a tape. On a terminal that is a panel, repainted as the tape advances, at the
pace in which it was recorded or at --speed. In a pipe it is the feed, one line per
entry, as fast as it can be read; with --speed each line comes when it is due.
Pace decides when something is shown, never what.

Keys: space pauses and resumes; left and right go ten seconds back and forward,
up and down a minute; + and - double and halve the speed; . goes to the next
event and n to the next transition of a node, and stay there; m and M go to the
next and the previous marker, f and F to the next and the previous finding of
explain, : to a time. j and k select a node, enter shows its pods, conditions and
Events, / searches, & filters, escape goes back; r writes the report; ? shows the
keys; q or ctrl-c ends. At the end of the tape it ends by itself, and the last panel stays
on the screen; paused, it waits there. docs/replay.md says more.

With --simulate the tape is that of a scenario, made as it is played; simulate
--list lists the scenarios.

With --to-cluster the tape is written into a real cluster, one made for tests:
its nodes join there, are drained and deleted. All written objects are labelled,
and --cleanup removes them. A cluster with nodes of its own is refused.

Times are positions on the tape: T+1m32s, 90s, end. New nodes are told by
their images, or run the --target.`,
		GroupID: "use",
		Example: examples(`
			nodesim replay --simulate demo
			nodesim replay --simulate stuck-drain --set force=true --speed 60x
			nodesim replay roll.yaml --speed 20x --idle-limit 10s
			nodesim replay roll.yaml | grep terminated
			nodesim replay roll.yaml -o json --verbose | jq -r 'select(.kind == "warning") | .message'
			nodesim replay roll.yaml --to-cluster --context kind-test --i-know-this-cluster kind-test --speed 5x
			nodesim replay roll.yaml --to-cluster --context kind-test --cleanup
			nodesim replay roll.yaml -o panel --from T+1m --to T+2m > panels.txt`),
		ValidArgsFunction: completeFiles(1, tapeEndings...),
	}
	f.add(cmd)
	f.output = newChoice("", "panel", "feed", "json")
	flags := cmd.Flags()
	flags.VarP(f.output, "output", "o", "what to show (default: panel on a terminal, else feed)")
	f.apply.add(cmd)
	flags.Lookup("speed").Usage = "pace: 20x, 0.5x, max (default: 1x for a panel on a terminal, else max)"
	suggest(cmd, "output", f.output.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tape, err := f.tape(cmd, args)
		if err != nil {
			return err
		}
		if err := f.check(cmd, args); err != nil {
			return err
		}
		if f.apply.on {
			return f.toCluster(cmd, tape, args)
		}
		return f.run(cmd, tape)
	}
	return cmd
}

// add defines the flags of all that play a tape.
func (f *replayFlags) add(cmd *cobra.Command) {
	f.addTape(cmd)
	flags := cmd.Flags()
	flags.Var(&f.speed, "speed", "pace: 20x, 0.5x, max (default: 1x)")
	flags.Var(&f.from, "from", "begin at this position")
	flags.Var(&f.to, "to", "end after this position")
	flags.DurationVar(&f.idle, "idle-limit", 0, "shorten stretches in which nothing happens to this time")
	flags.BoolVar(&f.loop, "loop", false, "begin again at the end")
	flags.BoolVar(&f.paused, "start-paused", false, "wait for the space key before the first event")
	flags.BoolVar(&f.verbose, "verbose", false, "show entries of every kind: evicted, pressure, warning and machine as well")
	f.pods.add(cmd, "show the roll of the pods that match this label `SELECTOR`, updated in place (default: the tape's)")
	exclude(cmd, "nodegroup", "a roll is one of nodes, or of pods", "pods")
	suggest(cmd, "speed", "1x", "20x", "100x", "max")
}

// addTape defines the flags of all that read a tape whole: which one, and which part of its cluster.
func (f *replayFlags) addTape(cmd *cobra.Command) {
	names := providerNames()
	f.provider = newChoice("auto", names...)
	flags := cmd.Flags()
	flags.StringVar(&f.scenario.word, "simulate", "", "play the tape of this `SCENARIO`, a name or a scenario file, in place of a tape")
	f.scenario.add(cmd)
	flags.StringVar(&f.nodegroup, "nodegroup", "", "show the node group of this `NAME` (default: the tape's)")
	flags.Var(f.provider, "provider", "whose labels name groups and images (default: the tape's)")
	flags.StringVar(&f.target, "target", "", "the `IMAGE` (or version, or of pods cpu=400m,memory=512Mi) that the roll moves towards")
	section(scenarioSection, flags, "simulate", "set", "seed", "timings")
	_ = cmd.RegisterFlagCompletionFunc("simulate", completeScenario)
	suggest(cmd, "provider", names...)
}

// tape is the one that was asked for.
func (f *replayFlags) tape(cmd *cobra.Command, args []string) (*ui.Tape, error) {
	switch word := f.scenario.word; {
	case word != "" && len(args) > 0:
		return nil, usagef("argument %q: want either a tape or --simulate %s", args[0], word)
	case cmd.Flags().Changed("simulate"):
		src, err := f.scenario.source(cmd, "flag --simulate: ")
		if err != nil {
			return nil, err
		}
		return ui.Simulated(src.Scenario.Name, src.Open), nil
	case f.scenario.changed(cmd):
		return nil, usagef("flags --set, --seed and --timings: found no scenario to change: want --simulate SCENARIO with them")
	}
	if err := arguments(1, 1, "one tape")(cmd, args); err != nil {
		return nil, err
	}
	if _, err := os.Stat(args[0]); errors.Is(err, fs.ErrNotExist) {
		if s, err := scenarios.Find(args[0]); err == nil {
			return nil, usagef("tape %q: there is no such file: did you mean --simulate %s?", args[0], s.Name)
		}
	}
	return ui.File(args[0], cmd.InOrStdin()), nil
}

// options are those of a Player.
func (f *replayFlags) options(preset replay.Speed) []replay.Option {
	opts := []replay.Option{replay.WithSpeed(preset), replay.IdleLimit(f.idle)}
	if f.speed.Speed != 0 {
		opts[0] = replay.WithSpeed(f.speed.Speed)
	}
	if f.paused {
		opts = append(opts, replay.StartPaused())
	}
	return opts
}
