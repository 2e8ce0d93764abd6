package app

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// liveFlags are those of simulate that concern a real API server.
type liveFlags struct {
	on, with, dry, cleanup, keep, verbose bool
	known, address                        string
	speed                                 speed
	renew                                 time.Duration
	shards                                int
	cluster                               *connectionFlags
	connect, own                          *pflag.FlagSet
}

func (f *liveFlags) add(cmd *cobra.Command) {
	f.cluster = newConnectionFlags()
	f.connect, f.own = pflag.NewFlagSet("cluster", pflag.ContinueOnError), pflag.NewFlagSet("live", pflag.ContinueOnError)
	cmd.Flags().BoolVar(&f.on, "live", false, "run the scenario on the API server of the kubeconfig, instead of making a tape")
	f.own.BoolVar(&f.with, "with-cluster", false, "on a control plane of its own, which ends with it")
	f.own.Var(&f.speed, "speed", "how fast, such as 20x (default 1x)")
	f.own.DurationVar(&f.renew, "renew", 0, "how often kubelets renew their leases (default: 10s, divided by the speed of a control plane of nodesim's)")
	f.own.IntVar(&f.shards, "shards", 0, "divide the node groups among `N` processes, each started by this same line")
	f.own.BoolVar(&f.dry, "dry-run", false, "print what would be done, and write nothing")
	f.own.BoolVar(&f.cleanup, "cleanup", false, "remove what live runs of this scenario have left, and run nothing")
	f.own.BoolVar(&f.keep, "keep", false, "leave everything in the cluster at the end; the next run resumes it")
	f.own.BoolVar(&f.verbose, "verbose", false, "show entries of every kind")
	f.own.StringVar(&f.known, "i-know-this-cluster", "", "run although the cluster has nodes of its own; names the kubeconfig's `CONTEXT`")
	f.own.StringVar(&f.address, "kubelet-address", "", "the `IP` by which the API server reaches this machine, for kubectl logs, exec, attach, port-forward and top on kind and kubeadm")
	section(liveSection, f.own)
	f.cluster.bind(f.connect)
	f.own.AddFlagSet(f.connect)
	want(f.own, "live")
	cmd.Flags().AddFlagSet(f.own)
	section(liveSection, cmd.Flags(), "live")
	exclude(cmd, "with-cluster", "a control plane of its own, or the cluster of the kubeconfig", names(f.connect)...)
	exclude(cmd, "with-cluster", "its cluster ends with it", "cleanup", "keep", "i-know-this-cluster", "shards")
	exclude(cmd, "dry-run", "--dry-run runs nothing", "cleanup", "out", "output", "verbose", "keep", "kubelet-address", "renew", "shards")
	exclude(cmd, "cleanup", "--cleanup runs nothing", "out", "output", "verbose", "keep", "kubelet-address", "renew", "speed", "shards")
	_ = cmd.RegisterFlagCompletionFunc("kubelet-address", cobra.NoFileCompletions)
	suggest(cmd, "speed", "1x", "5x", "10x", "20x")
	suggest(cmd, "renew", "10s", "5s", "1s", "200ms")
}

// check refuses values that can't be; output is that of -o, or "".
func (f *liveFlags) check(cmd *cobra.Command, output, out string) error {
	switch speed := f.speed.Speed; {
	case !f.on:
		return nil
	case f.address != "" && net.ParseIP(f.address) == nil:
		return usagef("flag --kubelet-address %q: want the IP address by which the API server reaches this machine", f.address)
	case cmd.Flags().Changed("renew") && (f.renew < 100*time.Millisecond || f.renew > time.Hour):
		return usagef("flag --renew %s: want 100ms to 1h, such as 10s", f.renew)
	case cmd.Flags().Changed("shards") && f.shards < 1:
		return usagef("flag --shards %d: want 1 or more", f.shards)
	case speed == replay.Max:
		return usagef("flag --speed max: a real cluster can't be hurried so: want a number, such as 20x")
	case speed != 0 && (speed < 0.01 || speed > 10_000):
		return usagef("flag --speed %s: want 0.01x to 10000x with --live", f.speed.String())
	case out == "-":
		return usagef("flag --out -: want a file with --live: what is written to it survives any end of the program")
	case output == "text":
		return usagef("flag --output text: want panel, feed, json or none with --live")
	case output == "none" && out != "":
		return usagef("flag --output none: nothing is watched then, and --out %s would have nothing to record: want panel, feed or json with it", out)
	}
	return nil
}

// pace returns the speed of the live run.
func (f *liveFlags) pace() float64 {
	if f.speed.Speed == 0 {
		return 1
	}
	return float64(f.speed.Speed)
}

// aboutSpeed says how often leases are renewed, where that doesn't go without
// saying: on a control plane that was hurried.
func (f *liveFlags) aboutSpeed(cluster float64, file *scenarios.File) string {
	if f.renew > 0 || cluster == 1 {
		return ""
	}
	line := fmt.Sprintf("the control plane goes at %s: leases are renewed every %s", times(cluster), live.Renewal(cluster, file.Nodes()).Round(time.Millisecond))
	if pace := f.pace(); pace != cluster {
		line += fmt.Sprintf(", and the scenario goes at %s", times(pace))
	}
	return line
}

func times(speed float64) string { return strconv.FormatFloat(speed, 'g', -1, 64) + "x" }

// quotedPath returns how a command line anywhere on this machine names a scenario file.
func quotedPath(word string) string {
	if word == "-" {
		return word
	}
	if path, err := filepath.Abs(word); err == nil {
		word = path
	}
	return record.Quote(word)
}

// explain says how the refusal of a cluster is overcome.
func (f *liveFlags) explain(err error, name string) error {
	var foreign *live.ForeignNodesError
	var other *live.OtherRunError
	switch {
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: --i-know-this-cluster=%s", err, record.Quote(name))
	case errors.As(err, &other):
		other.Flags = wayTo(f.connect)
	}
	return err
}

// wayTo are the flags that led to a cluster, but for those that are secret.
func wayTo(connect *pflag.FlagSet) string {
	var b strings.Builder
	connect.VisitAll(func(flag *pflag.Flag) {
		switch value := flag.Value.String(); {
		case !flag.Changed:
		case flag.Name == "token", flag.Name == "password":
			fmt.Fprintf(&b, " --%s=…", flag.Name)
		case flag.Name == "kubeconfig":
			fmt.Fprintf(&b, " --kubeconfig=%s", quotedPath(value))
		case flag.Value.Type() == "stringArray":
			for _, one := range flag.Value.(pflag.SliceValue).GetSlice() {
				fmt.Fprintf(&b, " --%s=%s", flag.Name, record.Quote(one))
			}
		default:
			fmt.Fprintf(&b, " --%s=%s", flag.Name, record.Quote(value))
		}
	})
	return b.String()
}
