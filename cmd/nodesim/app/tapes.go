package app

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/spf13/cobra"
	quantity "k8s.io/apimachinery/pkg/api/resource"
)

// storeVariable is that of the environment which names the store.
const storeVariable = "NODESIM_STORE"

func newTapes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tapes",
		Short: "List, get and prune the tapes of a store",
		Long: `List, get and prune the tapes that record --daemon has brought to a store: a
folder that a team shares, or a bucket of a cloud. --store or NODESIM_STORE names
it: file:///srv/tapes; with nodesim-cloud also s3://, gs:// and azblob://.`,
		GroupID: "use",
		Args:    cobra.ArbitraryArgs,
	}
	cmd.AddCommand(newTapesList(), newTapesGet(), newTapesPrune())
	onlyVerbs(cmd)
	return cmd
}

// storeFlags say which store is meant, and which tapes of it.
type storeFlags struct {
	store                   string
	cluster, group, outcome string
	since, until            time.Duration
}

func (f *storeFlags) add(cmd *cobra.Command) {
	f.addOfAnyGroup(cmd)
	f.addGroup(cmd)
}

// addGroup adds --nodegroup.
func (f *storeFlags) addGroup(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.group, "nodegroup", "", "only tapes of the node group of this `NAME`")
}

// addOfAnyGroup adds the flags but --nodegroup.
func (f *storeFlags) addOfAnyGroup(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.store, "store", "", "the `URL` of the store (default: what "+storeVariable+" has)")
	flags.StringVar(&f.cluster, "cluster", "", "only tapes of the cluster of this `NAME`, or UID of kube-system")
	flags.StringVar(&f.outcome, "outcome", "", "only tapes with this outcome: complete, unfinished or interrupted")
	flags.DurationVar(&f.since, "since", 0, "only tapes of rolls that began within this time")
	flags.DurationVar(&f.until, "until", 0, "only tapes of rolls that began longer ago than this")
	suggest(cmd, "outcome", outcomes...)
}

var outcomes = []string{string(trigger.Complete), string(trigger.Unfinished), string(trigger.Interrupted)}

// address is the URL of the store.
func (f *storeFlags) address() (string, error) {
	address := cmp.Or(f.store, os.Getenv(storeVariable))
	if address == "" {
		return "", usagef("flag --store: found none, and no %s: want the URL of the store, such as file:///srv/tapes", storeVariable)
	}
	return address, nil
}

// query is what is asked for at a time, from which --since and --until count back.
func (f *storeFlags) query(now time.Time) (store.Query, error) {
	q := store.Query{Cluster: f.cluster, Group: f.group, Outcome: trigger.Outcome(f.outcome)}
	if f.since < 0 || f.until < 0 {
		return q, usagef("flags --since %s, --until %s: want more than 0", f.since, f.until)
	}
	if f.outcome != "" && !slices.Contains(outcomes, f.outcome) {
		return q, usagef("flag --outcome %q: want complete, unfinished or interrupted", f.outcome)
	}
	if f.since > 0 {
		q.Since = now.Add(-f.since)
	}
	if f.until > 0 {
		q.Until = now.Add(-f.until)
	}
	return q, nil
}

// open opens the store, and makes the query.
func (f *storeFlags) open(cmd *cobra.Command) (*store.Store, store.Query, error) {
	address, err := f.address()
	if err != nil {
		return nil, store.Query{}, err
	}
	q, err := f.query(time.Now())
	if err != nil {
		return nil, q, err
	}
	s, err := store.Open(cmd.Context(), address)
	return s, q, err
}

func newTapesList() *cobra.Command {
	var f storeFlags
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tapes of a store",
		Example: examples(`
			nodesim tapes list --store file:///srv/tapes --since 24h
			nodesim tapes list --cluster prod --nodegroup workers --outcome interrupted -o json`),
		Args:              arguments(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.add(cmd)
	cmd.Flags().VarP(format, "output", "o", "text or json")
	suggest(cmd, "output", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, q, err := f.open(cmd)
		if err != nil {
			return err
		}
		return tapes.List(cmd.Context(), s, q, format.value == "json", cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func newTapesGet() *cobra.Command {
	var f storeFlags
	var out string
	cmd := &cobra.Command{
		Use:   "get NAME...",
		Short: "Get tapes of a store, by the names that list prints",
		Example: examples(`
			nodesim tapes get 20261127t195600z-workers-3f6c1d2a9b --store file:///srv/tapes
			nodesim tapes get --all --since 24h --out tapes/`),
		Args:              arguments(0, -1, "names of tapes"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.add(cmd)
	all := cmd.Flags().Bool("all", false, "get all tapes that the other flags leave")
	cmd.Flags().StringVar(&out, "out", ".", "the `FOLDER` to write to; a file that is there stays")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		if *all == (len(names) > 0) {
			return usagef("found %d names: want the names of tapes, as nodesim tapes list prints them, or --all", len(names))
		}
		s, q, err := f.open(cmd)
		if err != nil {
			return err
		}
		return tapes.Get(cmd.Context(), s, q, names, out, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func newTapesPrune() *cobra.Command {
	var f storeFlags
	var keep store.Keep
	var size bytesFlag
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove the oldest tapes of a store",
		Long: `Remove the oldest tapes of a store: those older than --keep-age, and those beyond
--keep-size. --keep-last tapes of each node group stay in any case. It prints
what it would remove; with --yes it removes that.`,
		Example: examples(`
			nodesim tapes prune --store file:///srv/tapes --keep-age 2160h --keep-last 5
			nodesim tapes prune --store file:///srv/tapes --keep-size 50Gi --yes`),
		Args:              arguments(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&keep.Age, "keep-age", 0, "how long after its roll a tape stays")
	flags.Var(&size, "keep-size", "how much stays")
	flags.IntVar(&keep.Last, "keep-last", 1, "how many tapes of each node group stay in any case")
	yes := flags.Bool("yes", false, "remove them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		keep.Size = int64(size)
		if keep.Age <= 0 && keep.Size <= 0 {
			return usagef("flags --keep-age and --keep-size: found neither: want one of them, or both: it says what has to go")
		}
		if keep.Last < 0 {
			return usagef("flag --keep-last %d: want 0 or more", keep.Last)
		}
		if keep.Age < 0 {
			return usagef("flag --keep-age %s: want more than 0, such as 2160h", keep.Age)
		}
		s, q, err := f.open(cmd)
		if err != nil {
			return err
		}
		return tapes.Prune(cmd.Context(), s, q, keep, *yes, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// bytesFlag is a size in bytes, as Kubernetes writes quantities: 64Mi, 1Gi.
type bytesFlag int64

func (b *bytesFlag) String() string {
	if *b == 0 {
		return ""
	}
	return quantity.NewQuantity(int64(*b), quantity.BinarySI).String()
}

func (b *bytesFlag) Set(s string) error {
	q, err := quantity.ParseQuantity(strings.TrimSpace(s))
	if err != nil || q.Value() <= 0 || q.Cmp(*quantity.NewQuantity(q.Value(), quantity.BinarySI)) != 0 { // 500m is half a byte
		return errors.New("want a size in whole bytes, such as 64Mi or 1Gi")
	}
	*b = bytesFlag(q.Value())
	return nil
}

func (*bytesFlag) Type() string { return "SIZE" }
