package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The annotations of a flag: what it excludes and why, in pairs, and the flag that it wants.
const (
	excludesAnnotation = "nodesim_excludes"
	wantsAnnotation    = "nodesim_wants"
)

// exclude says that a flag can't be given with any of the others, and why. It makes groups of flags for cobra, which
// then leaves the others out when a shell completes.
func exclude(cmd *cobra.Command, name, why string, others ...string) {
	f := cmd.Flags().Lookup(name)
	for _, other := range others {
		cmd.MarkFlagsMutuallyExclusive(name, other)
		annotate(f, excludesAnnotation, other, why)
	}
}

// want says that flags mean nothing without another one.
func want(flags *pflag.FlagSet, other string) {
	flags.VisitAll(func(f *pflag.Flag) { annotate(f, wantsAnnotation, other) })
}

func annotate(f *pflag.Flag, key string, values ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = append(f.Annotations[key], values...)
}

// checkFlags refuses flags that contradict each other, before a verb runs. Cobra finds that, in words of its own.
func checkFlags(cmd *cobra.Command, _ []string) (err error) {
	refused := cmd.ValidateFlagGroups()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for pair := range slices.Chunk(f.Annotations[excludesAnnotation], 2) {
			if err == nil && refused != nil && cmd.Flags().Changed(pair[0]) {
				err = usagef("flags --%s and --%s: found both: want one of them: %s", f.Name, pair[0], pair[1])
			}
		}
		for _, other := range f.Annotations[wantsAnnotation] {
			if err == nil && !cmd.Flags().Changed(other) {
				err = usagef("flag --%s: want --%s with it", f.Name, other)
			}
		}
	})
	if err == nil && refused != nil {
		err = &exitError{exitUsage, refused}
	}
	return err
}

// names lists the flags of a set.
func names(flags *pflag.FlagSet) (all []string) {
	flags.VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	return all
}
