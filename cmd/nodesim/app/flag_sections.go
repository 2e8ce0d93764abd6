package app

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sectionAnnotation is that of a flag's section.
const sectionAnnotation = "nodesim_section"

// The sections in which help lists flags, besides the verb's own flags.
const (
	scenarioSection   = "Scenario Flags"
	storeSection      = "Store Flags, for --store"
	liveSection       = "Live Flags, for --live"
	applySection      = "Cluster Flags, for --to-cluster"
	connectionSection = "Connection Flags, as kubectl has them"
)

// section puts flags in a section of the help.
func section(title string, flags *pflag.FlagSet, names ...string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if len(names) == 0 || slices.Contains(names, f.Name) {
			annotate(f, sectionAnnotation, title)
		}
	})
}

// flagSections returns the flags of a section each, in the order in which help lists them, with their titles.
func flagSections(flags *pflag.FlagSet) (titles []string, sections []*pflag.FlagSet) {
	for _, title := range []string{"Flags", scenarioSection, storeSection, liveSection, applySection, connectionSection} {
		some := pflag.NewFlagSet(title, pflag.ContinueOnError)
		flags.VisitAll(func(f *pflag.Flag) {
			if own := f.Annotations[sectionAnnotation]; len(own) == 0 && title == "Flags" || slices.Contains(own, title) {
				some.AddFlag(f)
			}
		})
		if some.HasAvailableFlags() {
			titles, sections = append(titles, title), append(sections, some)
		}
	}
	return titles, sections
}

// usage writes what cobra does (command.go, defaultUsageFunc), and the flags in sections.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		verbs(&b, cmd)
	}
	titles, sections := flagSections(cmd.LocalFlags())
	for i, title := range titles {
		fmt.Fprintf(&b, "\n\n%s:\n%s", title, strings.TrimRight(sections[i].FlagUsages(), " \n"))
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString("\n\nGlobal Flags:\n" + strings.TrimRight(cmd.InheritedFlags().FlagUsages(), " \n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String()+"\n")
	return err
}

// verbs lists the verbs of a command, by their groups where it has some.
func verbs(b *strings.Builder, cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Available Commands:"}}
	}
	for _, group := range groups {
		b.WriteString("\n\n" + group.Title)
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
}

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
