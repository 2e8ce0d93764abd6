package main

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/internal/app/clusters"
	"github.com/spf13/cobra"
)

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
