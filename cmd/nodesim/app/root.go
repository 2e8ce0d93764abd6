package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nodesim/nodesim/internal/version"
)

const about = `Record a real node roll once. Replay it anywhere.

nodesim records what the Kubernetes API shows of a group's nodes while they are
replaced, or simulates it, plays it back at any pace, in a terminal or as a
Kubernetes API, and holds tapes against golden files, so that what your tools say
about a roll is pinned down.

Exit status: 0 done, 1 failed or not as expected, 2 wrong usage, 3 recorded with
gaps, 4 a shard that was ended before it was done.`

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "nodesim",
		Short: "Record, simulate, replay and pin down the rolls of Kubernetes nodes",
		Long:  about,
		Example: examples(`
			nodesim replay --simulate demo
			nodesim simulate stuck-drain --set force=true --out roll.yaml
			nodesim record --nodegroup spot-burst --until-complete --out roll.yaml
			nodesim replay roll.yaml --speed 20x
			nodesim test testdata/tapes`),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.PersistentFlags().Bool("no-color", false, "no colours, as with NO_COLOR in the environment")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.PersistentPreRunE = checkFlags
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.AddGroup(
		&cobra.Group{ID: "make", Title: "Make tapes:"},
		&cobra.Group{ID: "use", Title: "Use tapes:"},
		&cobra.Group{ID: "else", Title: "Else:"},
	)
	root.SetHelpCommandGroupID("else")
	root.SetCompletionCommandGroupID("else")
	root.AddCommand(
		newRecord(), newImport(), newSimulate(), newSnapshot(),
		newReplay(), newWatch(), newServe(), newCtl(), newTest(), newInspect(), newTapes(), newDiff(), newPlan(), newExplain(), newReport(), newHunt(), newCalibrate(), newExport(), newFmt(),
		newCluster(),
		newVersion(), newMan(),
	)
	return root
}

// examples takes the common indentation of a text away and sets two spaces
// before each line.
func examples(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = "  " + strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// arguments checks the number of arguments, and says in words what is wanted.
func arguments(least, most int, want string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("found no %s: want %s", strings.Fields(want)[len(strings.Fields(want))-1], want)
		case most == 0 && len(args) > 0:
			return usagef("argument %q: want %s", args[0], want)
		case most >= 0 && len(args) > most:
			return usagef("argument %q: want %s and no more", args[most], want)
		}
		return nil
	}
}

func newVersion() *cobra.Command {
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: "else",
		Example: examples(`
			nodesim version
			nodesim version -o json`),
		Args: arguments(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			is := version.Get()
			if format.value == "json" {
				text, _ := json.Marshal(is) // strings alone
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			} else {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "nodesim %s %s %s\n", is.Version, is.Go, is.Platform)
			}
			return err
		},
	}
	cmd.Flags().VarP(format, "output", "o", "text, or json for bug reports")
	suggest(cmd, "output", format.of...)
	return cmd
}

// pluginName is how kubectl calls the program where it is a plugin.
const pluginName = "kubectl nodesim"

// isPlugin reports whether the program was started under the name by which kubectl finds a plugin.
func isPlugin(program string) bool {
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe") {
	case "kubectl-nodesim", "kubectl_nodesim":
		return true
	}
	return false
}

// asPlugin has help and examples say what a user of the plugin types: krew installs no other name. Prose that is about
// the program keeps its name.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginName}
	root.CompletionOptions.HiddenDefaultCmd = true // its scripts are for the name nodesim; kubectl completes by kubectl_complete-nodesim
	root.InitDefaultHelpCmd()
	var verbs []string
	for _, verb := range root.Commands() {
		verbs = append(verbs, regexp.QuoteMeta(verb.Name()))
	}
	typed := regexp.MustCompile(`(^|[^-\w/])nodesim (` + strings.Join(verbs, "|") + `)\b`)
	say := func(text *string) { *text = typed.ReplaceAllString(*text, "${1}"+pluginName+" ${2}") }
	var tell func(*cobra.Command)
	tell = func(cmd *cobra.Command) {
		for _, text := range []*string{&cmd.Short, &cmd.Long, &cmd.Example} {
			say(text)
		}
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) { say(&f.Usage) })
		}
		for _, sub := range cmd.Commands() {
			tell(sub)
		}
	}
	tell(root)
}
