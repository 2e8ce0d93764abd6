package main

import (
	"encoding/json"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nodesim/nodesim/internal/app/ctl"
	"github.com/nodesim/nodesim/scenarios/spec"
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
		f.given("fault ACTION", "'{kubeletDown: {node: ip-10-0-1-10, for: 5m}}'", "Have a fault of a scenario file happen now; of serve --writes act", checkFault, (*ctl.Client).Fault, spec.Actions()...),
		f.given("mark NAME", "'before the drain'", "Set a marker here, for status and for the keys m and M", nil, (*ctl.Client).Mark),
	)
	cmd.RunE = wantVerb
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
