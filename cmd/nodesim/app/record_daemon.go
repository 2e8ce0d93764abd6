package app

import (
	"net/url"
	"time"

	"github.com/nodesim/nodesim/internal/app/daemon"
	recording "github.com/nodesim/nodesim/recorder"
	recorder "github.com/nodesim/nodesim/recorder/daemon"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// daemonFlags are those of record --daemon.
type daemonFlags struct {
	on                bool
	o                 daemon.Options
	maxSize, keepSize bytesFlag
	leaderElect       bool
}

func (f *daemonFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.on, "daemon", false, "record until ended, and make a tape of each roll, which nobody has to announce, in --dir")
	for _, name := range []string{"out", "append", "duration", "until-complete", "wait", "name"} {
		exclude(cmd, "daemon", "a daemon makes the tapes of rolls by itself, in --dir", name)
	}
	own := pflag.NewFlagSet("daemon", pflag.ContinueOnError)
	own.StringVar(&f.o.Daemon.Dir, "dir", "", "keep the recording and the tapes in this `FOLDER`")
	own.DurationVar(&f.o.Daemon.Before, "before", recorder.DefaultBefore, "how much of the time before a roll its tape has")
	own.DurationVar(&f.o.Daemon.Quiet, "quiet", recorder.DefaultQuiet, "a roll is over when nothing of it happened for so long")
	own.IntVar(&f.o.Daemon.Evictions, "evictions", trigger.DefaultEvictions, "how many evictions of pods of a group within a minute begin a roll")
	own.DurationVar(&f.o.Daemon.MaxAge, "max-age", recorder.DefaultMaxAge, "a longer tape ends, and the next one continues it")
	own.Var(&f.maxSize, "max-size", "a larger tape ends, and the next one continues it (default 512Mi)")
	own.DurationVar(&f.o.Keep.Age, "keep-age", 0, "remove older tapes from the folder, once a store has them where there is one (default: keep all)")
	own.Var(&f.keepSize, "keep-size", "remove the oldest tapes above this `SIZE` of the folder, likewise (default: keep all)")
	own.StringVar(&f.o.Store, "store", "", "take the tapes to the store of this `URL`, such as file:///srv/tapes")
	own.DurationVar(&f.o.ShutdownTimeout, "shutdown-timeout", daemon.DefaultShutdownTimeout, "how long uploads may take once the recorder is ended")
	own.StringVar(&f.o.Listen, "listen", ":8080", "serve /metrics, /healthz and /readyz at this `ADDRESS`; empty for none")
	own.BoolVar(&f.leaderElect, "leader-elect", false, "of several recorders one makes tapes; the others record, and stand by")
	own.StringVar(&f.o.Lease, "lease", "", "the Lease of --leader-elect, as `NAMESPACE/NAME`")
	own.StringVar(&f.o.Webhook, "webhook", "", "post to this `URL` what explain says of each tape")
	own.BoolVar(&f.o.Events, "events", false, "write an Event about each tape, on the node that began the roll")
	own.StringVar(&f.o.Daemon.Cluster, "cluster-name", "", "the `NAME` of the cluster, for people who read the tapes")
	want(own, "daemon")
	flags.AddFlagSet(own)
}

func (f *daemonFlags) check() error {
	for name, d := range map[string]time.Duration{"before": f.o.Daemon.Before, "quiet": f.o.Daemon.Quiet, "max-age": f.o.Daemon.MaxAge, "shutdown-timeout": f.o.ShutdownTimeout} {
		if d <= 0 {
			return usagef("flag --%s %q: want more than 0, such as %s", name, d, 10*time.Minute)
		}
	}
	switch {
	case f.o.Daemon.Dir == "":
		return usagef("flag --daemon: want --dir with it, the folder to keep the recording and the tapes in")
	case f.o.Daemon.Evictions <= 0:
		return usagef("flag --evictions %d: want more than 0, such as 10", f.o.Daemon.Evictions)
	case f.leaderElect != (f.o.Lease != ""):
		return usagef("flags --leader-elect and --lease: found one of them: want both: recorders of one Lease, as NAMESPACE/NAME, elect one of them")
	case f.o.Keep.Age < 0:
		return usagef("flag --keep-age %q: want more than 0, such as %s", f.o.Keep.Age, 24*time.Hour)
	}
	if u, err := url.Parse(f.o.Webhook); f.o.Webhook != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return usagef("flag --webhook: found no URL of HTTP, want one such as https://hooks.example.com/rolls")
	}
	return nil
}

func (f *daemonFlags) run(cmd *cobra.Command, cluster *connectionFlags, cfg recording.Config) error {
	from, err := destinationOf(cluster)
	if err != nil {
		return err
	}
	cfg.REST, cfg.Name = from.rest, "history"
	f.o.Daemon.Record, f.o.Log = cfg, cmd.ErrOrStderr()
	f.o.Daemon.MaxSize, f.o.Keep.Size = int64(f.maxSize), int64(f.keepSize)
	boundMemory(recordMemory)
	defer frugal(cmd.Context())()
	return daemon.Run(cmd.Context(), f.o)
}
