package main

import (
	"net"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// liveFlags are those of simulate that concern a real API server.
type liveFlags struct {
	on, with, dry, cleanup, keep, verbose bool
	known, address                        string
	speed                                 speed
	renew                                 time.Duration
	cluster                               *connectionFlags
	connect, own                          *pflag.FlagSet
}

func (f *liveFlags) add(cmd *cobra.Command) {
	f.cluster = newConnectionFlags()
	f.connect, f.own = pflag.NewFlagSet("cluster", pflag.ContinueOnError), pflag.NewFlagSet("live", pflag.ContinueOnError)
	cmd.Flags().BoolVar(&f.on, "live", false, "run the scenario on the API server of the kubeconfig, instead of making a tape")
	f.own.BoolVar(&f.with, "with-cluster", false, "with --live: on a control plane of its own, which ends with it")
	f.own.Var(&f.speed, "speed", "with --live: how fast, such as 20x (default 1x)")
	f.own.DurationVar(&f.renew, "renew", 0, "with --live: how often kubelets renew their leases (default: 10s, divided by the speed of a control plane of nodesim's)")
	f.own.BoolVar(&f.dry, "dry-run", false, "with --live: print what would be done, and write nothing")
	f.own.BoolVar(&f.cleanup, "cleanup", false, "with --live: remove what live runs of this scenario have left, and run nothing")
	f.own.BoolVar(&f.keep, "keep", false, "with --live: leave everything in the cluster at the end; the next run resumes it")
	f.own.BoolVar(&f.verbose, "verbose", false, "with --live: show entries of every kind")
	f.own.StringVar(&f.known, "i-know-this-cluster", "", "with --live: run although the cluster has nodes of its own; names the kubeconfig's `CONTEXT`")
	f.own.StringVar(&f.address, "kubelet-address", "", "with --live: the `IP` by which the API server reaches this machine, for kubectl logs, exec, attach, port-forward and top on kind and kubeadm")
	f.cluster.bind(f.connect)
	f.own.AddFlagSet(f.connect)
	cmd.Flags().AddFlagSet(f.own)
	_ = cmd.RegisterFlagCompletionFunc("kubelet-address", cobra.NoFileCompletions)
	suggest(cmd, "speed", "1x", "5x", "10x", "20x")
	suggest(cmd, "renew", "10s", "5s", "1s", "200ms")
}

// check refuses flags that contradict each other; output is that of -o, or "".
func (f *liveFlags) check(cmd *cobra.Command, output, out string) (err error) {
	changed := cmd.Flags().Changed
	if !f.on {
		f.own.VisitAll(func(flag *pflag.Flag) {
			if changed(flag.Name) && err == nil {
				err = usagef("flag --%s: want --live with it", flag.Name)
			}
		})
		return err
	}
	f.connect.VisitAll(func(flag *pflag.Flag) {
		if f.with && changed(flag.Name) && err == nil {
			err = usagef("flags --with-cluster and --%s: found both: want a cluster of its own, or that of the kubeconfig", flag.Name)
		}
	})
	silent := "--cleanup"
	if f.dry {
		silent = "--dry-run"
	}
	switch {
	case err != nil:
		return err
	case f.dry && f.cleanup:
		return usagef("flags --dry-run and --cleanup: found both: want one of them")
	case (f.dry || f.cleanup) && (out != "" || f.keep || f.verbose || changed("output")):
		return usagef("flag %s: runs nothing: want neither --out, --output, --verbose nor --keep with it", silent)
	case (f.dry || f.cleanup) && f.address != "":
		return usagef("flag %s: runs nothing: want no --kubelet-address with it", silent)
	case f.address != "" && net.ParseIP(f.address) == nil:
		return usagef("flag --kubelet-address %q: want the IP address by which the API server reaches this machine", f.address)
	case changed("renew") && (f.renew < 100*time.Millisecond || f.renew > time.Hour):
		return usagef("flag --renew %s: want 100ms to 1h, such as 10s", f.renew)
	case (f.dry || f.cleanup) && changed("renew"):
		return usagef("flag %s: runs nothing: want no --renew with it", silent)
	case f.speed.Speed != 0 && f.speed.Speed != replay.Max && (f.speed.Speed < 0.01 || f.speed.Speed > 10_000):
		return usagef("flag --speed %s: want 0.01x to 10000x with --live", f.speed.String())
	case f.cleanup && changed("speed"):
		return usagef("flag --cleanup: runs nothing: want no --speed with it")
	case f.with && (f.cleanup || f.keep || f.known != ""):
		return usagef("flag --with-cluster: its cluster ends with it: want neither --cleanup, --keep nor --i-know-this-cluster with it")
	case f.speed.Speed == replay.Max:
		return usagef("flag --speed max: a real cluster can't be hurried so: want a number, such as 20x")
	case out == "-":
		return usagef("flag --out -: want a file with --live: what is written to it survives any end of the program")
	case output == "text":
		return usagef("flag --output text: want panel, feed or json with --live")
	}
	return nil
}
