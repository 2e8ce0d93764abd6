package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

func verbError(root *cobra.Command, word string) error {
	var verbs []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	if near := nearest(word, verbs); near != "" {
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
		if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
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
		if near := nearest(name, names); near != "" {
			return usagef("flag --%s: did you mean --%s?", name, near)
		}
		return usagef("flag --%s: %s has no such flag", name, cmd.CommandPath())
	case errors.As(err, &invalid):
		reason := invalid.Unwrap().Error()
		reason = strings.TrimPrefix(reason, "time: ")
		return usagef("flag --%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), reason)
	}
	return &exitError{exitUsage, err}
}

// nearest is the one of the words that a mistyped one was meant to be, or "".
func nearest(word string, words []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, w := range words {
		d := distance(strings.ToLower(word), w)
		if len(word) > 2 && strings.HasPrefix(w, word) {
			d = 1
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with the next
// one (Damerau and Levenshtein's, restricted).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before, row, next [65]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
