package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodesim/nodesim/internal/app/clusters"
	"github.com/nodesim/nodesim/internal/localcluster"
)

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster up|down|list|status|kubeconfig|logs",
		Short: "Run a throwaway control plane for demos and tests",
		Long: `Run a throwaway control plane on loopback: etcd, kube-apiserver,
kube-controller-manager and kube-scheduler, the real programs, without a node.

  nodesim cluster up           # prints: export KUBECONFIG=…; ctrl-c ends it
  nodesim cluster up --detach  # in the background, until nodesim cluster down

The programs are those in KUBEBUILDER_ASSETS. What isn't there is downloaded the first
time, and checked, or built from Go modules where that can't be, which takes some
minutes and needs Go on the PATH. NODESIM_MIRROR names a mirror, or is "off".
~/.kube/config is never touched. However nodesim ends, it leaves nothing.`,
		GroupID: "use",
		Example: examples(`
			nodesim cluster up
			nodesim cluster up --name demo --detach --speed 20x
			nodesim cluster logs kube-scheduler --name demo -f
			nodesim cluster down --name demo`),
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(newClusterUp(), newClusterDown(), newClusterList(), newClusterStatus(), newClusterKubeconfig(), newClusterLogs())
	onlyVerbs(cmd)
	return cmd
}

// namedCluster adds --name, and completes it with what runs.
func namedCluster(cmd *cobra.Command, what string) *string {
	name := cmd.Flags().String("name", "local", what)
	_ = cmd.RegisterFlagCompletionFunc("name", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		list, err := clusters.List(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, r := range list {
			names = append(names, r.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	return name
}

// unnamed takes no arguments: which cluster is meant is said by --name.
func unnamed(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && clusters.CheckName(args[0]) == nil {
		return usagef("argument %q: want no argument; a cluster is named by --name %s", args[0], args[0])
	}
	return arguments(0, 0, "no argument")(cmd, args)
}

// clusterVerb is a verb that asks about one cluster.
func clusterVerb(use, short, example string, args cobra.PositionalArgs, do func(cmd *cobra.Command, r clusters.Record, args []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: examples(example), Args: args, ValidArgsFunction: cobra.NoFileCompletions,
	}
	name := namedCluster(cmd, "the `NAME` of the cluster")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := clusters.CheckName(*name); err != nil {
			return usagef("flag --name: %w", err)
		}
		r, err := clusters.Find(cmd.Context(), *name)
		if err != nil {
			return err
		}
		return do(cmd, r, args)
	}
	return cmd
}

func newClusterStatus() *cobra.Command {
	output := newChoice("text", "text", "json")
	cmd := clusterVerb("status", "Where a cluster is, and its processes", `
		nodesim cluster status
		nodesim cluster status --name demo -o json | jq .processes`,
		unnamed, func(cmd *cobra.Command, r clusters.Record, _ []string) error {
			if output.value == "json" {
				return printJSON(cmd, r)
			}
			return r.Write(cmd.OutOrStdout(), time.Now())
		})
	outputFlag(cmd, output)
	return cmd
}

func newClusterKubeconfig() *cobra.Command {
	return clusterVerb("kubeconfig", "Print the kubeconfig of a cluster", `
		nodesim cluster kubeconfig
		kubectl get nodes --kubeconfig <(nodesim cluster kubeconfig --name demo)`,
		unnamed, func(cmd *cobra.Command, r clusters.Record, _ []string) error {
			if r.State != clusters.Running {
				return fmt.Errorf("cluster %q: is still starting: try again when nodesim cluster list says that it is running", r.Name)
			}
			text, err := os.ReadFile(r.Kubeconfig)
			if err != nil {
				return fmt.Errorf("cluster %q: %w", r.Name, err)
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		})
}

func newClusterLogs() *cobra.Command {
	follow := false
	cmd := clusterVerb("logs COMPONENT", "Print the log of etcd, kube-apiserver, kube-controller-manager or kube-scheduler", `
		nodesim cluster logs kube-scheduler
		nodesim cluster logs kube-controller-manager --name demo -f`,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("found no component: want one of %s", strings.Join(localcluster.Components(), ", "))
			}
			if err := arguments(1, 1, "one component")(cmd, args); err != nil {
				return err
			}
			if err := clusters.CheckComponent(args[0]); err != nil {
				return &exitError{exitUsage, err}
			}
			return nil
		}, func(cmd *cobra.Command, r clusters.Record, args []string) error {
			return suppressBrokenPipe(r.CopyLog(cmd.Context(), cmd.OutOrStdout(), args[0], follow))
		})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue with what is still being logged, until ctrl-c or the cluster's end")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return localcluster.Components(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func outputFlag(cmd *cobra.Command, output *choice) {
	cmd.Flags().VarP(output, "output", "o", "output format")
	suggest(cmd, "output", output.of...)
}

func printJSON(cmd *cobra.Command, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
	return err
}

func newClusterList() *cobra.Command {
	output := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use: "list", Short: "List the clusters that run",
		Example: examples(`
			nodesim cluster list
			nodesim cluster list -o json | jq -r '.[].kubeconfig'`),
		Args: arguments(0, 0, "no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := clusters.List(cmd.Context())
			if err != nil {
				return err
			}
			if output.value == "json" {
				return printJSON(cmd, append([]clusters.Record{}, list...))
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "nodesim: no cluster runs; nodesim cluster up starts one")
				return nil
			}
			return clusters.WriteList(cmd.OutOrStdout(), list, time.Now())
		},
	}
	outputFlag(cmd, output)
	return cmd
}

// downTimeout is more than a clean end takes on a busy machine.
const downTimeout = time.Minute

func newClusterDown() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "down", Short: "End a cluster, and remove what it left",
		Example: examples(`
			nodesim cluster down
			nodesim cluster down --name demo
			nodesim cluster down --all`),
		Args: unnamed, ValidArgsFunction: cobra.NoFileCompletions,
	}
	name := namedCluster(cmd, "the `NAME` of the cluster")
	cmd.Flags().BoolVar(&all, "all", false, "end all clusters")
	exclude(cmd, "all", "--all means every name", "name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), downTimeout, fmt.Errorf("%s have passed", downTimeout))
		defer cancel()
		if !all {
			if err := clusters.CheckName(*name); err != nil {
				return usagef("flag --name: %w", err)
			}
			return clusters.Down(ctx, *name)
		}
		list, err := clusters.List(ctx)
		if err != nil {
			return err
		}
		var failed error
		for _, r := range list {
			failed = errors.Join(failed, clusters.Down(ctx, r.Name))
		}
		return failed
	}
	return cmd
}
