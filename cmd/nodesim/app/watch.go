package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/app/watch"
	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/spf13/cobra"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// watchFlags are those of watch, as they were given.
type watchFlags struct {
	nodegroup, selector string
	provider, output    *choice
	timeout             time.Duration
}

func newWatch() *cobra.Command {
	cluster := newConnectionFlags()
	f := watchFlags{provider: newChoice("auto", providerNames()...), output: newChoice("", "panel", "feed", "json")}
	cmd := &cobra.Command{
		Use:   "watch [--nodegroup NAME | -l SELECTOR]",
		Short: "Watch a live cluster: a panel on a terminal, a feed in a pipe",
		Long: `Watch the nodes of a live cluster, as kubectl would connect to it. On a terminal
that is the panel of replay, in a pipe a line for each node that joins, is
online, is cordoned or drained, isn't ready or is gone, for each drain that a
PodDisruptionBudget blocks, and for the end of the roll. Nothing is recorded, and
the cluster is only read: list and watch of nodes, pods, events and
PodDisruptionBudgets.

Where no node matches it says what it waits for, and with --timeout it fails
after that time; a cluster that can't be read is tried again. q or ctrl-c ends
it with exit status 0.`,
		GroupID: "use",
		Example: examples(`
			nodesim watch
			nodesim watch --nodegroup spot-burst --context prod
			nodesim watch -l karpenter.sh/nodepool=default | grep draining
			nodesim watch --nodegroup spot-burst --timeout 30s -o json`),
		Args:              arguments(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.nodegroup, "nodegroup", "", "watch the node group of this `NAME` (default: all nodes)")
	flags.StringVarP(&f.selector, "selector", "l", "", "watch the nodes that match this label `SELECTOR`, in place of a group")
	flags.Var(f.provider, "provider", "whose labels name groups and images")
	flags.VarP(f.output, "output", "o", "what to show (default: panel on a terminal, else feed)")
	flags.DurationVar(&f.timeout, "timeout", 0, "fail if no node is found, or the cluster can't be read, for so long (default: wait)")
	exclude(cmd, "nodegroup", "either says which nodes", "selector")
	suggest(cmd, "provider", f.provider.of...)
	suggest(cmd, "output", f.output.of...)
	cluster.bind(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := f.observed()
		if err != nil {
			return err
		}
		to, err := destinationOf(cluster)
		if err != nil {
			return err
		}
		client, err := kubeclient.New(to.rest, nil)
		if err != nil {
			return err
		}
		k := noderoll.KubeOptions{StateOptions: o, SyncTimeout: f.patience()}
		budgets := client.PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll)
		refused := refusedBudgets(cmd.Context(), budgets, f.patience())
		if refused == "" {
			k.Budgets = budgets
		}
		observer := noderoll.NewKubeObserverWithOptions(client, k)
		defer observer.StopInformers()
		return f.run(cmd, observer, to.name, refused)
	}
	return cmd
}

// patience is how long each of the first requests may take.
func (f *watchFlags) patience() time.Duration {
	const most = 10 * time.Second
	if f.timeout > 0 {
		return min(f.timeout, most)
	}
	return most
}

// refusedBudgets says why the server doesn't show its PodDisruptionBudgets to this
// user, or "". Without them everything is shown but what blocks a drain.
func refusedBudgets(ctx context.Context, budgets noderoll.KubeLister[*policyv1.PodDisruptionBudgetList], patience time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := budgets.List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return err.Error()
	}
	return "" // read, or tried again with everything else
}

// observed is the group that was asked for.
func (f *watchFlags) observed() (o noderoll.StateOptions, err error) {
	if f.timeout < 0 {
		return o, usagef("flag --timeout %s: want a time above 0, such as 30s", f.timeout)
	}
	if o.Provider, err = noderoll.ProviderByName(f.provider.value); err != nil {
		return o, err
	}
	o.Pool, o.Target.Auto = f.nodegroup, true
	if f.selector != "" {
		if o.Selector, err = labels.Parse(f.selector); err != nil {
			return o, usagef("flag --selector %q: %w: want labels such as pool=blue,tier!=web", f.selector, err)
		}
	}
	return o, nil
}

// what names what is watched.
func (f *watchFlags) what(cluster string) string {
	what := "the cluster"
	if f.nodegroup != "" {
		what = "node group " + f.nodegroup
	} else if f.selector != "" {
		what = "selector " + f.selector
	}
	return fmt.Sprintf("%s (%s)", what, cmp.Or(cluster, "default cluster"))
}

// run shows what the observer sees until it is ended.
func (f *watchFlags) run(cmd *cobra.Command, observer *noderoll.KubeObserver, cluster, noBudgets string) (err error) {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	out := cmd.OutOrStdout()
	file, isTerminal := terminal.Of(out)
	o := watch.Options{
		Observer: observer, What: f.what(cluster), Timeout: f.timeout, NoBudgets: noBudgets,
		Frame: render.Frame{Title: cluster, Nodegroup: cmp.Or(f.nodegroup, f.selector), Server: cluster},
		Say:   func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "nodesim: %s\n", noderoll.OneLine(line)) },
	}
	options, err := panelOptions(cmd, out)
	if err != nil {
		return err
	}
	switch output := cmp.Or(f.output.value, map[bool]string{true: "panel", false: "feed"}[isTerminal]); {
	case output != "panel":
		feed := ui.NewFeedWriter(out)
		feed.JSON, feed.Live = output == "json", true
		o.Entries = feed.Entries
	case !isTerminal:
		draw := ui.Append(out)
		options.Width, options.Height = 80, 24
		o.Draw = func(frame render.Frame) error { return draw(frame.Position, render.Panel(frame, options)) }
	default:
		keys := terminal.ReadKeys(cmd.InOrStdin())
		defer keys.Close()
		go func() {
			for k := range terminal.Keys(keys) {
				if k == player.KeyQuit {
					cancel()
				}
			}
		}()
		screen := ui.NewScreen(file)
		defer terminal.Holder(cmd.Context(), file, keys)(screen)()
		defer func() { err = errors.Join(err, screen.Close()) }()
		options.Fill, o.Say = true, nil // the panel says it
		o.Draw = func(frame render.Frame) error {
			options.Width, options.Height = terminal.Size(file)
			if frame.Hint = "q quit"; keys == nil {
				frame.Hint = "ctrl-c quit"
			}
			return screen.Draw(render.Panel(frame, options))
		}
	}
	// Watches are an optimisation: where they can't be opened, each look lists.
	_ = observer.StartInformers(ctx)
	return watch.Run(ctx, o)
}

// panelOptions are what a panel may use on a terminal: colours as the
// environment has them (NO_COLOR, CLICOLOR_FORCE, COLORTERM, TERM), and ASCII
// alone where the locale has nothing else.
func panelOptions(cmd *cobra.Command, out io.Writer) (render.Options, error) {
	plain, err := cmd.Flags().GetBool("no-color")
	if err != nil {
		return render.Options{}, err
	}
	o := render.Options{Profile: terminal.Profile(out), ASCII: terminal.ASCIILocale()}
	if plain {
		o.Profile = min(o.Profile, render.ASCII)
	}
	return o, nil
}
