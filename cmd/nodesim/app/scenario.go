package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	app "github.com/nodesim/nodesim/internal/app/plan"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// scenarioFlags choose a scenario and change it.
type scenarioFlags struct {
	word     string // a name or a file
	settings []string
	seed     seed
	timings  string // a file
}

func (f *scenarioFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	// A value may have a comma.
	flags.StringArrayVar(&f.settings, "set", nil, "give a parameter of the scenario another `NAME=VALUE`; may be repeated")
	flags.Var(&f.seed, "seed", "seed of all random choices (default: the scenario's)")
	flags.StringVar(&f.timings, "timings", "", "take the times that were measured, of this `FILE` of nodesim calibrate")
	_ = cmd.RegisterFlagCompletionFunc("timings", completeTimings)
	_ = cmd.RegisterFlagCompletionFunc("set", completeSetting)
	_ = cmd.RegisterFlagCompletionFunc("seed", cobra.NoFileCompletions)
}

func (f *scenarioFlags) changed(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"set", "seed", "timings"}, cmd.Flags().Changed)
}

// find returns the scenario; place says in an error where its name stood.
func (f *scenarioFlags) find(cmd *cobra.Command, place string) (scenarios.Scenario, error) {
	if f.word == "" {
		return scenarios.Scenario{}, usagef("%sfound no name: want a scenario; nodesim simulate --list shows them", place)
	}
	s, err := simulate.Find(f.word, cmd.InOrStdin())
	if err != nil && !simulate.IsFile(f.word) {
		return s, usagef("%s%w", place, err)
	}
	return s, err
}

// source is the scenario with the values that were given.
func (f *scenarioFlags) source(cmd *cobra.Command, place string) (simulate.Source, error) {
	s, err := f.find(cmd, place)
	if err != nil {
		return simulate.Source{}, err
	}
	src, err := simulate.Resolve(s, f.settings, f.seed.value)
	if err != nil {
		return src, &exitError{exitUsage, err}
	}
	return f.measured(cmd, src)
}

// measured is the scenario with the times that were measured.
func (f *scenarioFlags) measured(cmd *cobra.Command, src simulate.Source) (_ simulate.Source, err error) {
	if src.File == nil && cmd.Flags().Changed("timings") {
		return src, usagef("scenario %s: it is always the same: want no --timings", src.Scenario.Name)
	}
	if src.File != nil {
		src.File, err = f.calibrated(cmd, src.File)
	}
	return src, err
}

// calibrated is the file with the times that were measured.
func (f *scenarioFlags) calibrated(cmd *cobra.Command, file *scenarios.File) (*scenarios.File, error) {
	if !cmd.Flags().Changed("timings") {
		return file, nil
	}
	m, err := simulate.Timings(f.timings)
	if err != nil {
		return nil, err
	}
	return file.Calibrated(m), nil
}

// read looks into a FILE, which is a scenario, the one that f names from then on, or holds a cluster, which is returned. Without groups that
// are chosen, a tape's own scope has to have a node.
func (f *scenarioFlags) read(cmd *cobra.Command, file string, roll *rollFlags) (cluster *scenarios.File, err error) {
	scenario, in, err := app.IsScenario(file, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	cmd.SetIn(in)
	if !scenario {
		if err := wantNoSettings(cmd); err != nil {
			return nil, err
		}
		s := snapshot.Source{File: file, In: in, At: roll.at.Duration, Now: time.Now(), InScope: len(roll.groups) == 0}
		return app.Cluster(cmd.Context(), s)
	}
	f.word = file
	if _, err := scenarios.Find(file); err == nil {
		f.word = "./" + file // the file of that name
	}
	return nil, nil
}

// nameIn is a file as a line about it names it.
func nameIn(file string) string {
	if file == "-" {
		return "(standard input)"
	}
	return file
}

// wantNoSettings refuses settings of a cluster, which has no parameters.
func wantNoSettings(cmd *cobra.Command) error {
	if cmd.Flags().Changed("set") {
		return usagef("flag --set: found no scenario to change: want a scenario, or a scenario file, with it")
	}
	return nil
}

// wantNoConnection refuses the flags of a connection where something else than a cluster is read.
func wantNoConnection(cmd *cobra.Command, read string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && slices.Contains(f.Annotations[sectionAnnotation], connectionSection) {
			err = usagef("flag --%s: %s is read, and no cluster: want one of them", f.Name, read)
		}
	})
	return err
}

// wantFiles refuses - as the name of an output that has to be a file.
func wantFiles(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.String() == "-" {
			return usagef("flag --%s -: want a file", name)
		}
	}
	return nil
}

func completeTimings(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeScenario suggests the shipped scenarios, and files where the word
// looks like one.
func completeScenario(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, s := range scenarios.All() {
		if strings.HasPrefix(s.Name, word) {
			names = append(names, s.Name+"\t"+s.About)
		}
	}
	if len(names) == 0 {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeSetting suggests the parameters of the scenario that the line names,
// and after a parameter's "=" its values.
func completeSetting(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	name := strings.Join(args, "")
	if f := cmd.Flags().Lookup("simulate"); f != nil {
		name = f.Value.String()
	}
	if name == "-" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := simulate.Find(name, nil)
	if err != nil || s.Document == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	parameter, _, valued := strings.Cut(word, "=")
	for _, p := range s.Document.Parameters {
		switch values := p.Values; {
		case !valued:
			words = append(words, p.Name+"=\t"+p.Doc)
		case p.Name == parameter:
			if p.Type == spec.TypeBool {
				values = []string{"true", "false"}
			}
			for _, v := range values {
				words = append(words, fmt.Sprintf("%s=%s", p.Name, v))
			}
		}
	}
	if valued {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
