package app

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	spelling "github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
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

// unknownVerb finds the word that cobra took for a verb in its error, which
// has no type of its own (cobra, args.go, legacyArgs).
func unknownVerb(err error) (string, bool) {
	rest, ok := strings.CutPrefix(err.Error(), "unknown command ")
	if !ok {
		return "", false
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", false
	}
	word, err := strconv.Unquote(quoted)
	return word, err == nil
}

// onlyVerbs has a verb do nothing by itself.
func onlyVerbs(cmd *cobra.Command) {
	cmd.RunE, cmd.Annotations = wantVerb, map[string]string{verbsOnly: ""}
}

const verbsOnly = "nodesim.dev/verbs-only"

// wantVerb returns what a verb does that has verbs of its own and was given none of
// them.
func wantVerb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &exitError{exitUsage, verbError(cmd, args[0])}
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		verbs = append(verbs, c.Name())
	}
	return usagef("found no verb: want %s", strings.Join(verbs, ", "))
}

func verbError(root *cobra.Command, word string) error {
	var verbs []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	if near := spelling.Closest(word, verbs); near != "" {
		return fmt.Errorf("verb %q: did you mean %s?", word, near)
	}
	return fmt.Errorf("verb %q: want %s", word, strings.Join(verbs, ", "))
}

// flagError explains a flag that pflag refuses.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		_, only := cmd.Annotations[verbsOnly]
		if args := cmd.Flags().Args(); (only || !cmd.HasParent()) && len(args) > 0 {
			return &exitError{exitUsage, verbError(cmd, args[0])}
		}
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return usagef("flag -%s: %s has no such flag", name, cmd.CommandPath())
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := spelling.Closest(name, names); near != "" {
			return usagef("flag --%s: did you mean --%s?", name, near)
		}
		return usagef("flag --%s: %s has no such flag", name, cmd.CommandPath())
	case errors.As(err, &invalid):
		return usagef("flag --%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), refusal(invalid))
	}
	return &exitError{exitUsage, err}
}

// aDuration is what time.ParseDuration takes, unless it is too long; its errors are the same for both.
var aDuration = regexp.MustCompile(`^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)

// refusal says what a flag wants that was given another value. pflag's own types pass on what Go's packages say, which
// names their functions; those of this package say it themselves.
func refusal(invalid *pflag.InvalidValueError) string {
	whole := "want a whole number"
	if errors.Is(invalid, strconv.ErrRange) {
		whole += " nearer to 0"
	}
	switch invalid.GetFlag().Value.Type() {
	case "bool":
		return "want true or false"
	case "duration":
		if aDuration.MatchString(invalid.GetValue()) {
			return "want less than 2562047h, which is the longest duration"
		}
		return "want a duration such as 90s or 1h30m"
	case "int":
		return whole
	case "uint64":
		return whole + ", not a negative one"
	case "stringSlice":
		return "want values separated by commas, without quotes"
	}
	return invalid.Unwrap().Error()
}
