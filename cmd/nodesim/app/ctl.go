package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/app/ctl"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/spf13/cobra"
)

// ctlFlags are those of all its verbs.
type ctlFlags struct {
	kubeconfig string
	output     *choice
}

func newCtl() *cobra.Command {
	f := ctlFlags{output: newChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "ctl pause|resume|step|seek|speed|mark|fault|status",
		Short: "Control a replay that serve runs",
		Long: `Control a replay that nodesim serve runs, from another terminal, a script or a test.
Every watcher follows.

The server is the one of the kubeconfig that serve has printed: KUBECONFIG, or
--kubeconfig. A step pauses the tape first, and returns when every watcher
has been handed the event; so a script can go from event to event and see how a
controller reacts to each.`,
		GroupID: "use",
		Example: examples(`
			nodesim ctl pause
			nodesim ctl step --until transition
			nodesim ctl step 10 -o json | jq '.applied[].name'
			nodesim ctl seek T+2m
			nodesim ctl seek -30s
			nodesim ctl speed 20x
			nodesim ctl fault '{vanish: {group: workers}}'
			nodesim ctl status --kubeconfig replay.kubeconfig`),
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "the `FILE` that serve has printed (default: KUBECONFIG)")
	flags.VarP(f.output, "output", "o", "output format of the result")
	suggest(cmd, "output", f.output.of...)
	cmd.AddCommand(
		f.verb("pause", "Stop the tape between two events", (*ctl.Client).Pause),
		f.verb("resume", "Let the tape go on", (*ctl.Client).Resume),
		f.status(),
		f.step(),
		f.given("seek TIME", "T+1m32s", "Go to a position: T+1m32s, 90s, end; or by a distance: +30s, -30s", checkPosition, (*ctl.Client).Seek, "0s", "end"),
		f.given("speed SPEED", "20x", "Change the pace: 20x, 0.5x, max", checkSpeed, (*ctl.Client).Speed, "1x", "20x", "100x", "max"),
		f.given("fault ACTION", "'{kubeletDown: {node: ip-10-0-1-10, for: 5m}}'", "Have a fault of a scenario file happen now; of serve --writes act", checkFault, (*ctl.Client).Fault),
		f.given("mark NAME", "'before the drain'", "Set a marker here, for status and for the keys m and M", nil, (*ctl.Client).Mark),
	)
	onlyVerbs(cmd)
	return cmd
}

// client is that of the server that the flags, or the environment, name.
func (f *ctlFlags) client() (*ctl.Client, error) {
	file := f.kubeconfig
	if file == "" {
		file = os.Getenv("KUBECONFIG")
	}
	if file == "" {
		return nil, usagef("found no kubeconfig: want --kubeconfig FILE, or KUBECONFIG as nodesim serve prints it")
	}
	return ctl.Load(file)
}

// say prints an answer.
func (f *ctlFlags) say(cmd *cobra.Command, answer any, text []byte) (err error) {
	if f.output.value == "json" {
		if text, err = json.Marshal(answer); err != nil {
			return err
		}
		text = append(text, '\n')
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}

// distanceLast moves the distance of "ctl seek -30s" after a "--", where it isn't
// taken for flags. Every other command line stays as it is.
func distanceLast(args []string) []string {
	seek := slices.Index(args, "seek")
	if seek < 1 || !slices.Contains(args[:seek], "ctl") || slices.Contains(args, "--") {
		return args
	}
	for i := seek + 1; i < len(args); i++ {
		if word := args[i]; len(word) > 1 && word[0] == '-' && (word[1] >= '0' && word[1] <= '9' || word[1] == '.') {
			moved := append(slices.Clone(args[:i]), args[i+1:]...)
			return append(moved, "--", word)
		}
	}
	return args
}

// Verbs of the API: asked takes nothing, given takes a word.
type (
	asked func(*ctl.Client, context.Context) (control.Status, error)
	given func(*ctl.Client, context.Context, string) (control.Status, error)
)

// verb is one that takes no arguments.
func (f *ctlFlags) verb(name, short string, do asked) *cobra.Command {
	return f.asks(name, short, do, ctl.AppendLine)
}

// status is the verb that tells everything.
func (f *ctlFlags) status() *cobra.Command {
	return f.asks("status", "Where the replay is, and its watchers", (*ctl.Client).Status, ctl.AppendStatus)
}

func (f *ctlFlags) asks(name, short string, do asked, text func([]byte, control.Status) []byte) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: examples("nodesim ctl " + name),
		Args: arguments(0, 0, "no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client()
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := do(c, cmd.Context())
			if err != nil {
				return err
			}
			return f.say(cmd, s, text(nil, s))
		},
	}
}

// given is a verb that takes one word, which check looks at before anybody is
// asked.
func (f *ctlFlags) given(use, example, short string, check func(string) error, do given, words ...string) *cobra.Command {
	name, what, _ := strings.Cut(use, " ")
	return &cobra.Command{
		Use: use, Short: short, Example: examples("nodesim ctl " + name + " " + example),
		Args: arguments(1, 1, "one "+what), ValidArgsFunction: cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check != nil {
				if err := check(args[0]); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			c, err := f.client()
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := do(c, cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return f.say(cmd, s, ctl.AppendLine(nil, s))
		},
	}
}

func checkPosition(word string) error { _, err := control.ParseTarget(word); return err }
func checkFault(text string) error    { _, err := spec.ParseFault(text); return err }
func checkSpeed(word string) error    { _, err := replay.ParseSpeed(word); return err }

// step is the verb that advances by events, transitions or markers.
func (f *ctlFlags) step() *cobra.Command {
	until := newChoice(string(control.UntilEvent), control.Untils...)
	wait := true
	cmd := &cobra.Command{
		Use: "step [N]", Short: "Pause, and step by one event, or by N", Args: arguments(0, 1, "at most one number"),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Pause the tape, and step by one event, or by N.

With --until transition a step ends when a node joins, is online, drains,
isn't ready or is gone, a pod of a roll in place changes, a roll is complete or
has failed, or the tape has a mark, and prints that after the events; with
--until marker it goes on to the next mark alone.
Every step ends at the end of the tape.`,
		Example: examples(`
			nodesim ctl step
			nodesim ctl step 10
			nodesim ctl step --until transition`),
	}
	cmd.Flags().Var(until, "until", "where a step ends")
	cmd.Flags().BoolVar(&wait, "wait", true, "return when every watcher has been handed the events")
	suggest(cmd, "until", until.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		steps := control.Steps{Count: 1, Until: control.Until(until.value), Wait: wait}
		if len(args) > 0 {
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 1 {
				return usagef("argument %q: want a number of steps, 1 or more", args[0])
			}
			steps.Count = n
		}
		c, err := f.client()
		if err != nil {
			return err
		}
		defer c.Close()
		s, err := c.Step(cmd.Context(), steps)
		if err != nil {
			return fmt.Errorf("step: %w", err)
		}
		return f.say(cmd, s, ctl.AppendStepped(nil, s))
	}
	return cmd
}
