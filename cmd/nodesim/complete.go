package main

import (
	"strings"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/spf13/cobra"
)

// completeFiles suggests files by their endings, as often as a verb takes any.
func completeFiles(most int, endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most >= 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// tapeEndings are those of tapes.
var tapeEndings = []string{"yaml", "yml", "jsonl", "gz", "zst"}

// suggest registers fixed words as the completion of a flag.
func suggest(cmd *cobra.Command, flag string, words ...string) {
	// The error is of a flag that isn't there: TestCompletion would see it.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func providerNames() []string {
	names := []string{"auto"}
	for _, p := range noderoll.Providers() {
		names = append(names, p.Name)
	}
	return names
}

// oneOf lists words for a help text.
func oneOf(words []string) string { return strings.Join(words, "|") }
