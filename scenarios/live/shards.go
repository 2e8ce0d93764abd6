package live

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/scenarios"
)

// Shards divides the scenario's node groups among n processes, at most 15, each with the same scenario and n. A process takes the first shard
// that has no record. One that finds none waits: it takes over the nodes of a process that has ended at once, and those of one whose record
// hasn't changed for ten seconds, as a run that is resumed.
//
// The scenario begins when all nodes of all processes are Ready and all pods run. It ends when no shard has anything more to do: until then
// each keeps its nodes. The last process that ends removes what all of them have made. Each keeps all pods of the scenario in memory.
//
// New refuses what one process has to do: Karpenter and Cluster API, an autoscaler, faults, a roll of pods in place, workloads with volumes,
// with places of their pods, or that are created later. kubectl top isn't served.
func Shards(n int) Option { return func(p *Runner) { p.shards = n } }

const (
	// mostShards is how many blocks of addresses a scenario's machines have, one for each shard, and machineNumbers how many addresses a
	// zone has in each (scenarios/simulation_cluster.go, place): no two shards have machines of the same name.
	mostShards     = 15
	machineNumbers = 62_500
	// silentFor is how long a shard's record doesn't change whose process is taken for dead: five renewals.
	silentFor = 5 * checkpointEvery
)

// shardRecord is the name of a shard's record.
func shardRecord(i int) string { return RecordName + "-" + strconv.Itoa(i) }

// sharded reports whether there are other processes.
func (p *Runner) sharded() bool { return p.shards > 1 }

// divide makes the files of the shards.
func (p *Runner) divide() error {
	if p.shards == 0 || p.shards == 1 {
		return nil
	}
	files, err := p.file.File.Shards(p.shards)
	if err == nil && p.shards > mostShards {
		err = fmt.Errorf("found %d shards: want at most %d", p.shards, mostShards)
	}
	if err != nil {
		return fmt.Errorf("divide scenario %s among processes: %w", p.label, err)
	}
	for _, f := range files {
		p.parts = append(p.parts, &scenarios.File{File: *f})
	}
	return nil
}

// part is the Runner of one shard.
func (p *Runner) part(i int) *Runner {
	one := *p
	one.file, one.scenario = p.parts[i], scenarioSpecOf(p.parts[i])
	one.record, one.firstMachine = shardRecord(i), i*machineNumbers
	return &one
}

// A search is that of a process for a shard that no process runs.
type search struct {
	p      *Runner
	client kubeclient.Interface
	joined bool      // there is a live run that other processes run
	looked time.Time // when it looked last
	silent map[string]silence
	// there are the records that a process may take over, working those of them whose shard has something to do.
	there    []*checkpointLock
	working  int
	removing bool // a record says that everything is being removed
}

// A silence is since when a record has had a version.
type silence struct {
	version string
	since   time.Time
}

// claimShard waits for a shard that no process runs, and takes it. over says that the live run has ended meanwhile.
func (p *Runner) claimShard(ctx context.Context, client kubeclient.Interface) (l *checkpointLock, adopted, over bool, err error) {
	s := &search{p: p, client: client, silent: map[string]silence{}}
	began := p.clock.Now()
	for {
		if l, err = s.look(ctx); err != nil || l != nil {
			return l, false, false, err
		}
		switch {
		case s.joined && s.working == 0:
			return nil, false, true, nil
		case s.removing && len(s.there) == 0 && p.clock.Since(began) > p.removeWithin:
			return nil, false, false, p.stillRemoved()
		}
		if l, err = s.take(ctx); err != nil || l != nil {
			return l, l != nil, false, err
		}
		waiting := fmt.Sprintf("other processes run all %d shards; this one takes over where one of them ends", p.shards)
		if s.joined = s.working > 0; !s.joined {
			waiting = "an earlier live run of this scenario is ending, or its processes have been killed"
		}
		p.tell(Progress{Phase: Preparing, Waiting: []string{waiting}})
		if err := retry.Pause(ctx, p.clock, checkpointEvery); err != nil {
			return nil, false, false, err
		}
	}
}

// look reads all records, and creates the first that isn't there: then it is mine.
func (s *search) look(ctx context.Context) (mine *checkpointLock, err error) {
	s.there, s.working, s.removing = nil, 0, false
	away := s.p.clock.Since(s.looked) > 2*checkpointEvery // this process was suspended, or below: one request took as long
	starting := false                                     // the first shard is run: one that has no record yet waits for a process
	for i := range s.p.shards {
		l, asked := s.p.part(i).newLock(s.client), s.p.clock.Now()
		created, err := l.look(ctx, i == 0 && !s.joined || i > 0 && starting)
		away = away || s.p.clock.Since(asked) > 2*checkpointEvery
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil || created {
			return l, err
		}
		was := checkpointOf(l.have)
		if was.Holder == cleaner {
			s.removing = true
			continue
		}
		if s.there = append(s.there, l); !was.Ended {
			s.working++
			starting = starting || i == 0
		}
	}
	now := s.p.clock.Now()
	if away {
		clear(s.silent) // processes that live couldn't renew their records either
	}
	s.looked = now
	for _, l := range s.there {
		if was, known := s.silent[l.p.record]; !known || was.version != l.have.ResourceVersion {
			s.silent[l.p.record] = silence{l.have.ResourceVersion, now}
		}
	}
	return nil, nil
}

// take takes over a shard that its process has given up, or whose process is silent; nil where there is none.
func (s *search) take(ctx context.Context) (*checkpointLock, error) {
	for _, l := range s.there {
		if judge(l.have, l.holder, false, s.looked.Sub(s.silent[l.p.record].since)) != toTake {
			continue
		}
		switch holder, err := l.takeOver(ctx); {
		case err == nil && holder == l.holder:
			return l, nil
		case err != nil && !passing(err) && !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	return nil, nil
}

// records are the names of all records that a live run may have.
func records() []string {
	names := []string{RecordName}
	for i := range mostShards {
		names = append(names, shardRecord(i))
	}
	return names
}

// unsettled says what is missing before this process can begin. The nodes of all others have to be there too, so that the scheduler has all
// to choose from; where another one has begun, pods come and go, and this one waits for its own nodes alone.
func (r *run) unsettled() []string {
	missing := r.sim.Unsettled()
	if !r.sharded() || r.resumed || len(missing) > 0 {
		return missing // the nodes of all processes are looked through once those of this one are there
	}
	if r.othersBegun.Load() {
		return slices.DeleteFunc(missing, func(m string) bool { return !strings.HasPrefix(m, "node ") })
	}
	all, err := r.apiServer.kubelets.nodes.List(labels.SelectorFromSet(labels.Set{Label: r.label}))
	if err != nil {
		return append(missing, err.Error())
	}
	ready := 0
	for _, n := range all {
		if isReady(n) && !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }) {
			ready++
		}
	}
	if ready < r.nodesOfAll {
		missing = append([]string{fmt.Sprintf("node groups of all processes: %d of %d nodes are Ready", ready, r.nodesOfAll)}, missing...)
	}
	return missing
}

func isReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// lookAtOthers notes whether another shard has begun, and lets the scenario end once none has anything more to do.
func (r *run) lookAtOthers(ctx context.Context) error {
	if r.begun.Load() && !r.idle.Load() {
		return nil
	}
	ended := r.idle.Load()
	for i := range r.shards {
		have, err := r.clients.kube.CoordinationV1().Leases(RecordNamespace).Get(ctx, shardRecord(i), metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err != nil { // its process is still to come
			ended = false
			continue
		}
		was := checkpointOf(have)
		if was.Holder != r.lock.holder && was.Begun {
			r.othersBegun.Store(true)
		}
		ended = ended && (was.Ended || was.Holder == r.lock.holder)
	}
	if ended {
		r.eventLoop.post(r.sim.Release)
	}
	return nil
}

// release gives this process's shard up: a process that waits takes it over at once.
func (r *run) release(ctx context.Context) error {
	if !r.sharded() {
		return nil
	}
	r.lock.now.Holder = ""
	err := r.again(ctx, func(ctx context.Context) error {
		return r.lock.note(ctx, r.begun.Load(), r.done.Load(), time.Duration(r.at.Load()))
	})
	if err != nil {
		return fmt.Errorf("give up lease %s/%s: %w", RecordNamespace, r.record, err)
	}
	return nil
}

// leave gives this process's shard up, and reports whether no other process runs one: it is to remove what all of them have made.
func (r *run) leave(ctx context.Context) (last bool, err error) {
	if !r.sharded() {
		return true, nil
	}
	if err := r.release(ctx); err != nil {
		if taken := takenOver(err); taken != nil {
			return !taken.resumes(), nil
		}
		return false, err
	}
	// As long as a process that lives may be silent, a record that doesn't change may be of one.
	held, err := r.held(ctx)
	for waited := time.Duration(0); err == nil && len(held) > 0 && waited < silentFor; waited += checkpointEvery {
		if err := retry.Pause(ctx, r.clock, checkpointEvery); err != nil {
			return false, err
		}
		now, err := r.held(ctx)
		if err != nil {
			return false, err
		}
		for name, version := range now {
			if held[name] != version {
				return false, nil
			}
		}
		held = now
	}
	if err != nil {
		return false, err
	}
	for i := range r.shards {
		if err := r.again(ctx, func(ctx context.Context) error {
			_, err := r.stop(ctx, r.clients.kube, shardRecord(i))
			return err
		}); err != nil {
			return false, err
		}
	}
	return true, nil
}

// held are the versions of the records that other processes have.
func (r *run) held(ctx context.Context) (versions map[string]string, err error) {
	versions = map[string]string{}
	for i := range r.shards {
		have, err := r.readRecord(ctx, r.clients.kube, shardRecord(i))
		if err != nil {
			return nil, err
		}
		if have == nil {
			continue
		}
		if by := checkpointOf(have).Holder; by != "" && by != cleaner {
			versions[have.Name] = have.ResourceVersion
		}
	}
	return versions, nil
}
