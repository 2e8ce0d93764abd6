package app

import (
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/app/snapshot"
	reading "github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/spf13/cobra"
)

func newSnapshot() *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:   "snapshot [FILE] --out SCENARIO",
		Short: "Read a cluster, and make a scenario of it that can be simulated",
		Long: `Read a cluster, and make a scenario file of it, which can be simulated, edited and
committed: its nodes by groups, with the instance types' real allocatable; its
workloads with what their pods ask for, and where they run; its budgets. What the
file can't say is named in it, and on standard error.

Without FILE it is the kubeconfig's cluster. FILE is otherwise:

  what ` + reading.KubectlGet + `
  prints, or -o yaml; several, one after the other; - for standard input
  a folder that kubectl cluster-info dump or must-gather has left
  a tape, at the moment --at

The cluster is only read: lists of these kinds, and the server's version. The
file holds no environment, arguments, commands or annotations. With --anonymize
names of the user's own are pseudonyms, the same ones each time with the same key.`,
		GroupID: "make",
		Example: examples(`
			nodesim snapshot --out cluster.yaml
			nodesim snapshot --context prod --anonymize --out cluster.yaml
			` + reading.KubectlGet + ` | nodesim snapshot - --out cluster.yaml
			nodesim snapshot cluster-state/ --out cluster.yaml
			nodesim snapshot roll.yaml --at 2m --out cluster.yaml
			nodesim replay --simulate ./cluster.yaml`),
		Args:              arguments(0, 1, "one file or folder"),
		ValidArgsFunction: completeFiles(1, "json", "yaml", "yml", "gz", "zst"),
	}
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.out == "" {
			return usagef("flag --out: found none: want the name of the scenario file to write, such as cluster.yaml, or - for standard output")
		}
		if err := spare(cmd, f.out, args...); err != nil {
			return err
		}
		source, err := f.source(cmd, args)
		if err != nil {
			return err
		}
		file, err := snapshot.Read(cmd.Context(), source)
		if err != nil {
			return err
		}
		if err := writeOut(cmd, f.out, func(w io.Writer) error { return reading.Write(w, file) }); err != nil {
			return err
		}
		snapshot.Describe(cmd.ErrOrStderr(), nameOut(f.out), file, time.Now())
		return nil
	}
	return cmd
}

// nameOut is an output as a line about it names it.
func nameOut(out string) string {
	if out == "-" {
		return "(standard output)"
	}
	return out
}

// snapshotFlags say which cluster is read.
type snapshotFlags struct {
	out, key  string
	at        position
	anonymize bool
	cluster   *connectionFlags
}

func (f *snapshotFlags) add(cmd *cobra.Command) {
	f.cluster = newConnectionFlags()
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "the scenario `FILE` to write, - for standard output (required)")
	_ = cmd.RegisterFlagCompletionFunc("out", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	})
	flags.Var(&f.at, "at", "the moment of a tape (default: its beginning)")
	flags.BoolVar(&f.anonymize, "anonymize", false, "write pseudonyms in place of names of namespaces, workloads, pods, nodes, images, and labels of your own")
	flags.StringVar(&f.key, "key", "", "the `FILE` with the key of --anonymize (default: one of your own, made once)")
	annotate(flags.Lookup("key"), wantsAnnotation, "anonymize")
	f.cluster.bind(flags)
}

// source is where the cluster is read from.
func (f *snapshotFlags) source(cmd *cobra.Command, args []string) (s snapshot.Source, err error) {
	s = snapshot.Source{In: cmd.InOrStdin(), At: f.at.Duration, Now: time.Now()}
	if f.anonymize {
		if s.Key, err = snapshot.Key(f.key); err != nil {
			return s, err
		}
	}
	if len(args) > 0 {
		s.File = args[0]
		return s, wantNoConnection(cmd, nameIn(args[0]))
	}
	if err := f.at.wantTape(clusterMoment); err != nil {
		return s, err
	}
	from, err := destinationOf(f.cluster)
	s.REST, s.Name = from.rest, from.name
	return s, err
}
