package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/scenarios"
)

const (
	// lookEvery is the interval, in wall time, at which Run checks whether the scenario can begin, and how far it is.
	lookEvery = 250 * time.Millisecond
	// deliverMost bounds the time for the last writes.
	deliverMost = 5 * time.Second
)

// Run runs the scenario, and returns when it has ended, ctx has, or it can't continue. Then it ends the kubelets and
// removes what it made, unless [Keep] says otherwise; that takes no longer than [LeaveWithin], and the Report says
// what is left. The Report holds whatever the error.
//
// A live run of the same scenario that was killed is resumed: its nodes and pods stay, and nothing is created twice.
// Another one is refused with an [*OtherRunError], nodes of others with a [*ForeignNodesError], too few
// rights with a [*MissingRightsError]; nothing was written then.
func (p *Runner) Run(ctx context.Context) (Report, error) {
	ctx, end := context.WithCancelCause(withoutKlog(ctx))
	defer end(nil)
	r := &run{Runner: p, end: end, noteNow: make(chan struct{}), unfollow: func() {}, endRenewal: func() {}}
	p.tell(Progress{Phase: Preparing})
	if err := r.prepare(ctx); err != nil || r.report.Standby {
		r.endRenewal()
		if taken := takenOver(context.Cause(ctx)); taken != nil {
			err = taken
		}
		return r.report, errors.Join(err, r.abandon(err))
	}
	err := r.runScenario(ctx)
	r.endRenewal()
	return r.report, errors.Join(err, r.removeOrKeep(ctx, err))
}

// startRenewal renews the record until endRenewal is called: a process that waits takes over what isn't renewed.
func (r *run) startRenewal() {
	ctx, stop := context.WithCancel(withoutKlog(context.Background()))
	done := make(chan struct{})
	r.endRenewal = func() { stop(); <-done }
	go func() {
		defer close(done)
		r.keepRecord(ctx)
	}()
}

// withoutKlog keeps client-go from writing to the terminal: problems are reported as warnings or errors.
func withoutKlog(ctx context.Context) context.Context { return klog.NewContext(ctx, klog.Logger{}) }

// A run is the state of one live run.
type run struct {
	*Runner
	clients   *clients
	sim       simulation
	apiServer *apiServer
	eventLoop *eventLoop
	pace      *pace
	lock      *checkpointLock
	objects   []planned
	during    []planned // to be made in the course of the scenario
	later     []planned // workloads, which wait for the nodes of 0s
	podCache  corev1listers.PodLister
	// nodes are those of an earlier live run, leaving those that were on their way out.
	nodes, leaving []*corev1.Node
	unfollow       func() // waits for the watches of the provider's objects
	// kinds are the provider's own, owners first, undefined those of them that the
	// server is to be brought to serve.
	kinds, undefined []scenarios.CustomKind
	report           Report
	end              context.CancelCauseFunc // ends the live run
	endRenewal       func()                  // waits until nothing renews the record
	// resumed is a scenario that had begun, at a moment; hadRolled says that its rolls had ended.
	resumed, hadRolled bool
	resumeAt           time.Duration
	wrote              bool // something of ours may be in the cluster
	placing            bool // pods are bound before the nodes come

	begun atomic.Bool
	at    atomic.Int64 // the moment of the scenario
	done  atomic.Bool  // the rolls are over
	idle  atomic.Bool  // this shard has nothing more to do
	// othersBegun says that another shard has begun.
	othersBegun atomic.Bool
	// noteNow is closed when the scenario begins: a resumed run treats a scenario that has begun in another way than
	// one that hasn't.
	noteNow    chan struct{}
	lastReport time.Time
	lastEvent  time.Time // when the server said something last
	still      time.Time // since when nothing is missing
}

// runScenario runs the scenario to its end.
func (r *run) runScenario(ctx context.Context) (err error) {
	ctx, end := context.WithCancelCause(ctx)
	// The write queue outlives the event loop a little, for the last writes.
	tail, cut := context.WithCancel(context.WithoutCancel(ctx))
	var owned sync.WaitGroup
	w, running := r.apiServer, r.apiServer.kubelets.pods
	factory := newCaches(r.clients.kube, &w.alike)
	w.ctx = ctx
	w.writeQueue = newWriteQueue(tail, r.warn)
	w.customResources.writeQueue = w.writeQueue
	w.reporter = newReporter(tail, r.clients.kube, r.speed)
	defer func() {
		end(nil)
		r.eventLoop.close()
		owned.Wait()
		w.kubelets.close()
		factory.Wait()
		r.unfollow()
		if takenOver(context.Cause(ctx)) != nil {
			cut() // what waits is of nodes that another process has by now
		}
		r.lastWrites(tail)
		cut()
		w.writeQueue.close()
		w.reporter.close()
		r.count()
	}()
	w.kubelets.ctx = ctx
	r.podCache = factory.pods.Lister()
	w.kubelets.nodes = factory.nodes.Lister()
	running.serves = w.kubelets.serves
	running.give = func(pod *corev1.Pod) bool { return r.eventLoop.post(func() { r.sim.PodGiven(pod) }) }
	running.left = func(pod *corev1.Pod) { r.eventLoop.post(func() { r.sim.PodSeen(watch.Deleted, pod) }) }
	heard := func() { r.lastEvent = r.clock.Now() }
	err = follow(factory, r.eventLoop, r.sim, w.kubelets, heard)
	if err == nil && hasDisks(resourcesOf(r.objects)) {
		err = followDisks(factory, r.eventLoop, r.sim, heard)
	}
	if err != nil {
		return err
	}
	controller, err := r.podController(ctx, factory, running)
	if err != nil {
		return err
	}
	if err := r.followCustoms(ctx); err != nil {
		return err
	}
	factory.Start(ctx)
	w.kubeletServer = r.openKubeletServer(ctx, tail, w.kubelets.nodes)
	// Kubelets first: pods of those that the controller doesn't find alive are told
	// to them at its next look at all pods, a minute later.
	if r.resumed {
		if err := r.sim.Adopt(r.nodes, r.resumeAt, r.hadRolled); err != nil {
			return err
		}
	}
	owned.Go(func() {
		// Whose the node of a pod is says the cache.
		if !cache.WaitForCacheSync(ctx.Done(), factory.nodes.Informer().HasSynced) {
			return
		}
		if err := controller.Run(ctx, podWorkers); err != nil {
			end(fmt.Errorf("pods of the scenario: %w", err))
		}
	})
	if roll := r.roll(); roll != nil && !r.hadRolled {
		owned.Go(func() {
			if err := roll(ctx); err != nil && ctx.Err() == nil {
				end(fmt.Errorf("roll: %w", err))
			}
		})
	}
	if r.placing = !r.report.Adopted && r.sim.Placing(); !r.placing {
		r.sim.Seed()
	}
	if r.report.Adopted {
		if err := r.again(ctx, r.dropStray); err != nil {
			return err
		}
	}
	r.lastReport = time.Time{}
	if err := r.eventLoop.run(ctx, func() (time.Duration, bool, error) { return r.step(ctx) }); err != nil || !r.report.Ended {
		// The last writes take a while; progress doesn't wait for them.
		if !r.keep && !r.sharded() {
			r.tell(Progress{Phase: Leaving, At: time.Duration(r.at.Load()), Adopted: r.report.Adopted})
		}
		return err
	}
	return r.ended(ctx)
}

// lastWrites waits a little until the last writes are on the server, and ends the kubelets' server.
func (r *run) lastWrites(ctx context.Context) {
	late, enough := context.WithTimeout(ctx, deliverMost)
	_ = r.apiServer.writeQueue.delivered(late) // what isn't delivered by then is counted nowhere: it is removed next
	enough()
	late, enough = context.WithTimeout(ctx, deliverMost)
	defer enough()
	if err := r.apiServer.kubeletServer.close(late, r.again); err != nil {
		r.warn(fmt.Errorf("what answers for kubelets: %w", err))
	}
}

// roll returns the roller that acts from outside of the simulation, or nil.
func (r *run) roll() func(context.Context) error {
	poll := func(ctx context.Context) error { return retry.Pause(ctx, r.clock, r.pollInterval()) }
	switch {
	case r.scenario.plain:
		return func(ctx context.Context) error { return r.rollPlain(ctx, poll) }
	case r.scenario.pods != nil:
		return func(ctx context.Context) error { return r.rollInPlace(ctx, r.scenario.pods, poll) }
	}
	return nil
}

// pollInterval returns the poll interval of outside rollers: a second of the scenario.
func (r *run) pollInterval() time.Duration {
	return max(time.Duration(float64(time.Second)/r.speed), 10*time.Millisecond)
}

// step does what is due, and says when something is due next.
func (r *run) step(ctx context.Context) (wait time.Duration, over bool, err error) {
	if !r.begun.Load() {
		if r.clock.Since(r.lastReport) < lookEvery {
			return lookEvery, false, nil
		}
		r.lastReport = r.clock.Now()
		if r.placing {
			missing := r.sim.Unplaced()
			if len(missing) == 0 {
				r.placing = false
				r.sim.Seed()
			}
			r.tell(Progress{Phase: Settling, At: r.sim.Now(), Waiting: missing, Adopted: r.report.Adopted})
			return lookEvery, false, nil
		}
		unknown := r.unknownPods()
		if len(unknown) > 0 && r.sim.Placing() {
			r.apiServer.kubelets.pods.relook() // pods were bound before their nodes came
		}
		missing := slices.Concat(r.unsettled(), unknown, r.undelivered())
		if err := r.apiServer.kubelets.barred(); err != nil {
			return 0, false, fmt.Errorf("cluster %s: %w", r.config.Host, err)
		}
		if len(r.later) > 0 {
			r.createWorkloads(missing)
			r.tell(Progress{Phase: Settling, At: r.sim.Now(), Waiting: missing, Adopted: r.report.Adopted})
			return lookEvery, false, nil
		}
		if len(missing) == 0 && !r.quiet() {
			return lookEvery, false, nil
		}
		r.tell(Progress{Phase: Settling, At: r.sim.Now(), Waiting: missing, Adopted: r.report.Adopted})
		if len(missing) > 0 {
			return lookEvery, false, nil
		}
		r.served = r.apiServer.customResources.served()
		if err := r.Runner.begin(ctx); err != nil {
			return 0, false, err
		}
		r.pace.restart(r.sim.Now())
		if err := r.sim.Begin(); err != nil {
			return 0, false, err
		}
		r.begun.Store(true)
		r.clients.slowest.restart()
		close(r.noteNow)
		r.tell(Progress{Phase: Playing, At: r.sim.Now(), Adopted: r.report.Adopted})
	}
	if err := r.advance(); err != nil {
		return 0, false, err
	}
	r.at.Store(int64(r.sim.Now()))
	r.idle.Store(r.sharded() && r.sim.Idle())
	r.done.Store(r.scenario.rolls > 0 && len(r.sim.Outcomes()) >= r.scenario.rolls)
	if r.sim.Ended() {
		r.report.Ended = true
		return 0, true, nil
	}
	if r.clock.Since(r.lastReport) >= lookEvery {
		r.lastReport = r.clock.Now()
		r.tell(Progress{Phase: Playing, At: r.sim.Now(), Adopted: r.report.Adopted})
	}
	wait = lookEvery
	if next, is := r.sim.Next(); is {
		wait = min(wait, r.pace.until(next))
	}
	return wait, false, nil
}

// advance brings the scenario to the present, one moment after the other: where a request holds one up, the present is there.
func (r *run) advance() error {
	to := r.pace.now()
	for {
		at := to
		if next, is := r.sim.Next(); is && next < to {
			at = next
		}
		if err := r.sim.Advance(at); err != nil {
			return err
		}
		if r.pace.reached(at) || at >= to || r.sim.Ended() {
			return nil
		}
	}
}

// keepRecord writes the live run's progress to its record in the cluster, and ends the run when another process has
// taken it over.
func (r *run) keepRecord(ctx context.Context) {
	begins := r.noteNow
	for {
		timer := r.clock.NewTimer(checkpointEvery)
		select {
		case <-begins:
			begins = nil
		case <-timer.C():
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
		bounded, cancel := context.WithTimeout(ctx, attemptMost)
		r.lock.now.Ended = r.idle.Load()
		err := r.lock.note(bounded, r.begun.Load(), r.done.Load(), time.Duration(r.at.Load()))
		if err == nil && r.sharded() {
			err = r.lookAtOthers(bounded)
		}
		cancel()
		switch {
		case takenOver(err) != nil:
			r.end(err)
			return
		case err != nil && ctx.Err() == nil:
			r.warn(fmt.Errorf("note how far the live run is: %w; trying again", err))
		}
	}
}

// count fills the report in.
func (r *run) count() {
	r.apiServer.writeQueue.count(&r.report)
	r.report.Evictions, r.report.Denied = r.apiServer.evictions, r.apiServer.denied
	r.report.Position, r.report.Lost = time.Duration(r.at.Load()), r.pace.lost
	r.report.Slowest = r.clients.slowest.time()
	r.report.Outcomes = r.sim.Outcomes()
}
