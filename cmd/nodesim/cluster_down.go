package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/clusters"
	"github.com/spf13/cobra"
)

// downTimeout is more than an end in good order takes on a busy machine.
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
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := context.WithTimeoutCause(cmd.Context(), downTimeout, fmt.Errorf("%s have passed", downTimeout))
		defer cancel()
		if !all {
			if err := clusters.CheckName(*name); err != nil {
				return usagef("flag --name: %w", err)
			}
			return clusters.Down(ctx, *name)
		}
		if cmd.Flags().Changed("name") {
			return usagef("flags --all and --name: found both: want one of them")
		}
		list, err := clusters.List(ctx)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := clusters.Down(ctx, r.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
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
			clusters.WriteList(cmd.OutOrStdout(), list, time.Now())
			return nil
		},
	}
	outputFlag(cmd, output)
	return cmd
}
