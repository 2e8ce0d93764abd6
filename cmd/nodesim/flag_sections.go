package main

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
	for _, title := range []string{"Flags", scenarioSection, liveSection, applySection, connectionSection} {
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
