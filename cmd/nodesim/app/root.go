package app

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

const about = `Record a real node roll once. Replay it anywhere.

nodesim records what the Kubernetes API shows of a group's nodes while they are
replaced, or simulates it, plays it back at any pace, in a terminal or as a
Kubernetes API, and holds tapes against golden files, so that what your tools say
about a roll is pinned down.

Exit status: 0 done, 1 failed or not as expected, 2 wrong usage, 3 recorded with
gaps.`

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
		newReplay(), newWatch(), newServe(), newCtl(), newTest(), newInspect(), newDiff(), newPlan(), newExplain(), newReport(), newHunt(), newCalibrate(), newExport(), newFmt(),
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

// version is set by -ldflags "-X github.com/nodesim/nodesim/cmd/nodesim/app.version=v1.2.3".
var version string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: "else",
		Example: examples(`nodesim version`),
		Args:    arguments(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "nodesim %s %s %s/%s\n", versionOf(debug.ReadBuildInfo()), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versionOf returns what the linker was told, or the module's version (go install
// of a version), or the commit that was built.
func versionOf(info *debug.BuildInfo, ok bool) string {
	switch {
	case version != "":
		return version
	case !ok:
		return "unknown"
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value
		}
	}
	return "devel"
}
