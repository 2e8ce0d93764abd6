package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/app/clusters"
	"github.com/spf13/cobra"
)

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
		for _, r := range list {
			if err := clusters.Down(ctx, r.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
