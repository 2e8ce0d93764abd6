package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios"
)

// Runner runs one scenario on one cluster. Run, Cleanup and DryRun are for one goroutine, one after the other.
type Runner struct {
	file         *scenarios.File
	config       *rest.Config
	label        string
	speed        float64
	known        bool
	keep         bool
	shards       int               // how many processes run the scenario; 0 is this one alone
	parts        []*scenarios.File // of the shards
	record       string            // the name of the Lease
	firstMachine int               // its number
	nodesOfAll   int               // at 0s, those of other processes too
	clock        clock.WithTicker
	removeWithin time.Duration
	renew        time.Duration
	// hurried is the speed of the control plane's own delays; 0 is speed.
	hurried  float64
	source   string
	listen   string
	host     string // by which the API server reaches this machine, where it was told
	trusted  []byte // PEM, of the clients that the kubelets let in; none lets every client in
	scenario scenarioSpec
	served   []schema.GroupVersionResource // the provider's own that are written
	tell     func(Progress)
	warn     func(error)
	mark     func(name, reason string)
	begin    func(context.Context) error
	ended    func(context.Context) error
}

// Option configures a Runner.
type Option func(*Runner)

// A speed is between these. Above, a control plane's own delays have long become
// their shortest, and requests take longer than what they are about.
const (
	slowest = 0.01
	fastest = 10_000
)

func checkSpeed(s float64) error {
	if !(s >= slowest && s <= fastest) { // neither is NaN
		return fmt.Errorf("speed %v: want a number from %v to %v", s, slowest, fastest)
	}
	return nil
}

// Speed divides the scenario's durations, by 0.01 to 10000; the default is 1. The
// real controllers of the cluster keep their own: see [ClusterSpeed].
func Speed(s float64) Option { return func(p *Runner) { p.speed = s } }

// KnownCluster allows a cluster with nodes that no live run has made. Without it Run refuses one, with a
// [*ForeignNodesError]. Where there are such nodes, the pods of the scenario's workloads get a nodeSelector by which
// they stay on its own.
func KnownCluster() Option { return func(p *Runner) { p.known = true } }

// Keep leaves everything in the cluster when Run ends: nodes fall silent, and the next Run resumes with them.
func Keep() Option { return func(p *Runner) { p.keep = true } }

// OnProgress calls tell whenever a phase begins and while it waits for something.
// It is called by one goroutine at a time and must be quick.
func OnProgress(tell func(Progress)) Option { return func(p *Runner) { p.tell = tell } }

// OnWarning calls warn with errors that don't end the live run: a request that is retried, a write that was refused.
// It may be called by several goroutines at a time.
func OnWarning(warn func(error)) Option { return func(p *Runner) { p.warn = warn } }

// OnMark calls mark at the scenario's named moments: a roll that has begun, is
// complete or has failed. It must be quick.
func OnMark(mark func(name, reason string)) Option { return func(p *Runner) { p.mark = mark } }

// BeforeBegin calls do when all nodes are Ready and all pods run, before the scenario's 0s: time to begin a
// recording. An error ends the live run. For a resumed run it is called before that.
func BeforeBegin(do func(context.Context) error) Option {
	return func(p *Runner) { p.begin = do }
}

// AtEnd calls do when the scenario has come to its end, while its nodes and pods
// are still kept: time for what the control plane does late, such as to collect the
// pods of nodes that are gone. An error ends the live run as any other does.
func AtEnd(do func(context.Context) error) Option {
	return func(p *Runner) { p.ended = do }
}

// WithClock sets the clock that the pace goes by. Leases are renewed by the real
// one.
func WithClock(c clock.WithTicker) Option { return func(p *Runner) { p.clock = c } }

// ClusterSpeed says by what the delays of the control plane are divided after which it takes a node for lost
// (--node-monitor-grace-period, by default 50 s): kubelets renew their Leases as much more often than every 10 s. The
// default is that of [Speed]; of a cluster at its own pace it is 1.
func ClusterSpeed(s float64) Option { return func(p *Runner) { p.hurried = s } }

// RenewEvery sets how often a kubelet renews its Lease, in wall time, in place of
// what [ClusterSpeed] says.
func RenewEvery(d time.Duration) Option { return func(p *Runner) { p.renew = d } }

// Renewal returns the interval at which the kubelets of a number of nodes renew their Leases where the control
// plane's delays are divided by a speed: a kubelet's 10 s, divided. Where all of them together would be more than a
// hundred requests a second it is up to twice as long, which still is two and a half times in the grace period.
func Renewal(clusterSpeed float64, nodes int) time.Duration {
	const kubelet, least = 10 * time.Second, 200 * time.Millisecond // the shortest grace period is a second
	every := time.Duration(float64(kubelet) / clusterSpeed)
	gentle := min(time.Duration(nodes)*10*time.Millisecond, 2*every)
	return min(max(every, gentle, least), kubelet)
}

// CalledBy says how a command line names the scenario where that isn't by its own name: the path of its file, quoted
// as a shell wants it, or - for standard input. The record holds it, and the remedy of an [*OtherRunError]
// repeats it.
func CalledBy(word string) Option { return func(p *Runner) { p.source = word } }

// ListenAt sets the host and port of the one listener that answers for all
// kubelets: kubectl logs, exec, attach, port-forward and top reach it through the
// API server, which has to reach that host. The default is a free port of
// 127.0.0.1, for an API server on this machine; "" is none. A host that is all
// addresses of this machine wants [KubeletAddress] with it.
func ListenAt(address string) Option { return func(p *Runner) { p.listen = address } }

// LeaveWithin bounds how long a live run may take at its end to remove what it made; the default is two minutes.
func LeaveWithin(d time.Duration) Option { return func(p *Runner) { p.removeWithin = d } }

// New returns a Runner. It asks the cluster nothing yet.
func New(config *rest.Config, file *scenarios.File, opts ...Option) (*Runner, error) {
	p := &Runner{
		file: file, speed: 1, clock: clock.RealClock{}, removeWithin: 2 * time.Minute, listen: loopback,
		tell: func(Progress) {}, warn: func(error) {}, mark: func(string, string) {}, begin: func(context.Context) error { return nil },
		ended: func(context.Context) error { return nil },
	}
	for _, o := range opts {
		o(p)
	}
	switch {
	case config == nil:
		return nil, errors.New("run a scenario live: found no cluster: want a rest.Config")
	case file == nil:
		return nil, errors.New("run a scenario live: found none: want a resolved file")
	case p.renew < 0:
		return nil, fmt.Errorf("run scenario %s live: renew leases every %s: want a time above 0, such as 10s", file.Metadata.Name, p.renew)
	}
	if err := checkSpeed(p.speed); err != nil {
		return nil, fmt.Errorf("run scenario %s live: %w", file.Metadata.Name, err)
	}
	if p.hurried != 0 {
		if err := checkSpeed(p.hurried); err != nil {
			return nil, fmt.Errorf("run scenario %s live: the cluster's %w", file.Metadata.Name, err)
		}
	}
	if err := p.address(); err != nil {
		return nil, fmt.Errorf("run scenario %s live: %w", file.Metadata.Name, err)
	}
	whole, err := file.Split()
	if err != nil {
		return nil, fmt.Errorf("run scenario %s live: %w", file.Metadata.Name, err)
	}
	p.file, p.label, p.scenario = whole, whole.Metadata.Name, scenarioSpecOf(whole)
	p.record, p.nodesOfAll = RecordName, whole.Nodes()
	if err := p.divide(); err != nil {
		return nil, err
	}
	if _, err := p.scenario.simulate(scenarios.LiveConfig{APIServer: &dryRunServer{}, Now: p.clock.Now}); err != nil {
		return nil, err
	}
	p.config = rest.CopyConfig(config)
	// A thousand kubelets have a thousand clients; ours must not be slower than
	// they. The server's own priority and fairness bounds it: 429 is obeyed.
	p.config.QPS, p.config.Burst, p.config.RateLimiter = -1, 0, nil
	p.config.UserAgent = rest.DefaultKubernetesUserAgent() + " nodesim-live"
	return p, nil
}

// Label is the label of everything that a live run creates: nodes, namespaces, workloads, budgets and the record. Its
// value is the scenario's name, a DNS-1123 label. What carries it is taken away at the end, and nothing else is.
const Label = "nodesim.dev/live"

// The record of a live run: a Lease whose name doesn't depend on the scenario, so that one cluster can't have two
// live runs. That of a shard has its number besides.
const (
	RecordNamespace = metav1.NamespaceSystem
	RecordName      = "nodesim-live"
)

// fieldManager is the name under which the API server notes our writes.
const fieldManager = "nodesim-live"
