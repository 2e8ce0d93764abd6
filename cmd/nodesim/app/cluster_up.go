package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/clusters"
	"github.com/nodesim/nodesim/internal/app/clusters/detach"
	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/replay"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// clusterUpFlags are those of cluster up, as they were given.
type clusterUpFlags struct {
	name              *string
	kubeconfig, audit string
	speed             speed
	port              int
	detach, kept      bool
	kubernetes        string
	offline           bool
}

func newClusterUp() *cobra.Command {
	var f clusterUpFlags
	cmd := &cobra.Command{
		Use: "up", Short: "Start a cluster, and end it with ctrl-c",
		Long: `Start a control plane on loopback, and keep it until ctrl-c, or q on a terminal. A
second ctrl-c ends it at once. It prints the line that connects clients to it:

  export KUBECONFIG=…/kubeconfig

With --detach it stays in the background, until nodesim cluster down. The file goes
away with the cluster.

There are no nodes; nodesim simulate --live adds some. --speed divides the delays
after which the control plane reacts to a silent node; docs/cluster.md lists
them.`,
		Example: examples(`
			nodesim cluster up
			eval "$(nodesim cluster up --detach)"
			nodesim cluster up --name demo --speed 20x --audit-log audit.jsonl
			nodesim cluster up --port 6443 --kubeconfig-out demo.kubeconfig
			nodesim cluster up --kubernetes-version 1.34`),
		Args: unnamed, ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.name = namedCluster(cmd, "the `NAME` of the cluster, of which there may be several")
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig-out", "", "write the kubeconfig to this `FILE` too, which must not be there yet")
	flags.BoolVar(&f.detach, "detach", false, "return when it is ready, and let it run in the background")
	flags.Var(&f.speed, "speed", "divide the control plane's delays: 20x (default 1x)")
	flags.StringVar(&f.audit, "audit-log", "", "log each write to the API, as a line of JSON at the end of this `FILE`")
	flags.IntVar(&f.port, "port", 0, "the `PORT` of 127.0.0.1 to serve the API at (default: a free one)")
	flags.StringVar(&f.kubernetes, "kubernetes-version", "", "the `VERSION` of Kubernetes: "+strings.Join(assets.Minors(), ", ")+
		" (default "+assets.KubernetesVersion+", or what KUBEBUILDER_ASSETS has)")
	flags.BoolVar(&f.offline, "offline", false, "download nothing: build missing programs from Go's module cache")
	flags.BoolVar(&f.kept, "kept", false, "")
	_ = flags.MarkHidden("kept") // how --detach calls the one in the background
	_ = cmd.MarkFlagFilename("kubeconfig-out")
	_ = cmd.MarkFlagFilename("audit-log")
	suggest(cmd, "kubernetes-version", assets.Minors()...)
	suggest(cmd, "speed", "1x", "10x", "20x", "100x")
	_ = cmd.RegisterFlagCompletionFunc("port", cobra.FixedCompletions([]string{"6443"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(cmd); err != nil {
			return err
		}
		if f.detach {
			return background(cmd)
		}
		return f.run(cmd)
	}
	return cmd
}

func (f *clusterUpFlags) check(cmd *cobra.Command) error {
	if err := clusters.CheckName(*f.name); err != nil {
		return usagef("flag --name: %w", err)
	}
	if f.speed.Speed >= replay.Max {
		return usagef("flag --speed %q: a control plane has its own pace: want a number such as 20x", "max")
	}
	if f.port < 0 || f.port > 65535 || f.port == 0 && cmd.Flags().Changed("port") {
		return usagef("flag --port %d: want 1 to 65535", f.port)
	}
	if _, err := assets.ResolveKubernetes(f.kubernetes); err != nil {
		return usagef("flag --kubernetes-version: %w", err)
	}
	return nil
}

func (f *clusterUpFlags) options(log io.Writer) clusters.Options {
	return clusters.Options{Kubeconfig: f.kubeconfig, ControlPlane: localcluster.Options{
		Name: *f.name, Speed: float64(f.speed.Speed), Port: f.port, AuditLog: f.audit, Log: log,
		Kubernetes: f.kubernetes, Offline: f.offline,
	}}
}

// background runs the same command line in the background.
func background(cmd *cobra.Command) error {
	args := []string{"cluster", "up", "--kept"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "detach" {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	err := detach.Start(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{max(exit.ExitCode(), exitFailed), nil} // it has said why
	}
	return err
}

// run keeps the cluster until it is ended.
func (f *clusterUpFlags) run(cmd *cobra.Command) error {
	defer ignoreSIGPIPE()()
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	c, err := clusters.Up(ctx, f.options(stderr))
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted before cluster %q was ready: nothing of it is left", *f.name)
		}
		return err
	}
	how := "ctrl-c ends it"
	if f.kept {
		how = fmt.Sprintf("nodesim cluster down --name %s ends it", *f.name)
	} else if _, isTerminal := terminal.Of(cmd.InOrStdin()); isTerminal {
		how = "q or ctrl-c ends it"
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "export KUBECONFIG="+record.Quote(c.Record().Kubeconfig))
	fmt.Fprintf(stderr, "nodesim: cluster %s is ready after %s, at %s; %s\n", *f.name, c.Took().Round(100*time.Millisecond), c.URL(), how)
	if err == nil && f.kept {
		err = detach.Hide()
	}
	if err == nil {
		err = f.keep(ctx, cmd, c)
	}
	return suppressBrokenPipe(errors.Join(err, c.Down()))
}

// keep returns when the cluster is to end: nil where it was asked for.
func (f *clusterUpFlags) keep(ctx context.Context, cmd *cobra.Command, c *clusters.Cluster) error {
	keys := terminal.ReadKeys(cmd.InOrStdin())
	defer keys.Close()
	if file, isTerminal := terminal.Of(cmd.InOrStdin()); isTerminal {
		defer terminal.Hold(ctx, file, keys)()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case k := <-terminal.Keys(keys):
			if k == player.KeyQuit {
				return nil
			}
		case <-c.Done():
			err := fmt.Errorf("cluster %q: %w", *f.name, c.Err())
			if f.kept {
				return errors.Join(err, c.Note(c.Err()))
			}
			return err
		}
	}
}
