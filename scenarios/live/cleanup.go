package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/retry"
)

// removeOrKeep removes the objects of the live run, or says that they stay. why is the error that it ended with: a
// process that has taken the run over owns them.
func (r *run) removeOrKeep(ctx context.Context, why error) error {
	defer r.clients.close()
	taken := takenOver(why)
	if taken.resumes() {
		return nil
	}
	if r.keep {
		return r.lastNote(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.removeWithin)
	defer cancel()
	if taken == nil {
		last, err := r.leave(ctx)
		if err != nil || !last {
			r.report.Others = err == nil
			return err
		}
	}
	r.tell(Progress{Phase: Leaving, At: r.report.Position, Adopted: r.report.Adopted})
	return r.sweep(ctx, &r.report, 0)
}

// abandon removes what a preparation that failed has made, and nothing that was
// there before. why is its error.
func (r *run) abandon(why error) error {
	if r.clients == nil {
		return nil
	}
	defer r.clients.close()
	if !r.wrote || r.keep || takenOver(why).resumes() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.removeWithin)
	defer cancel()
	if r.report.Adopted {
		return r.release(ctx)
	}
	last, err := r.leave(ctx)
	if err != nil || !last {
		return err
	}
	return r.sweep(ctx, &r.report, 0)
}

// lastNote records where a kept live run has stopped.
func (r *run) lastNote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptMost)
	defer cancel()
	if err := r.lock.note(ctx, r.begun.Load(), r.done.Load(), r.report.Position); err != nil {
		return fmt.Errorf("note where the live run has stopped: %w", err)
	}
	return nil
}

// sweep removes what was made; see [sweep] for tries.
func (r *run) sweep(ctx context.Context, report *Report, tries int) error {
	s := &sweep{p: r.Runner, tries: tries, clients: r.clients, resources: r.resources(), seen: map[string]bool{}, hosts: map[string]bool{}}
	for _, kind := range slices.Backward(r.kinds) {
		s.customResources = append(s.customResources, kind.GroupVersionResource)
	}
	if len(r.kinds) > 0 {
		s.customResources = append(s.customResources, definitionsResource)
	}
	return s.run(ctx, report)
}

// cleanupTries is how often Cleanup asks a server that doesn't answer, in some ten seconds: a user waits for it, and can
// repeat it.
const cleanupTries = 8

// Cleanup removes what live runs of this scenario have left in the cluster: objects that carry [Label] with its name,
// the pods on its nodes and in its namespaces, and nothing else. A process that runs it is told to end. It may be
// repeated.
func (p *Runner) Cleanup(ctx context.Context) (Report, error) {
	ctx = withoutKlog(ctx)
	r := &run{Runner: p}
	var err error
	if r.clients, err = p.connect(ctx); err != nil {
		return r.report, err
	}
	defer r.clients.close()
	if err := r.plan(); err != nil {
		return r.report, err
	}
	p.tell(Progress{Phase: Leaving})
	ctx, cancel := context.WithTimeout(ctx, p.removeWithin)
	defer cancel()
	err = p.attempts(ctx, cleanupTries, func(ctx context.Context) error { return p.stopOther(ctx, r.clients.kube) })
	if err != nil {
		return r.report, fmt.Errorf("remove what scenario %s has left: %w: want an API server that answers, and --cleanup once more", p.label, err)
	}
	return r.report, r.sweep(ctx, &r.report, cleanupTries)
}

// stopOther tells a process that runs the scenario to end, and waits until it has had the time to read that. Where none
// can be, it doesn't wait.
func (p *Runner) stopOther(ctx context.Context, client kubeclient.Interface) error {
	alive := false
	for _, name := range records() {
		was, err := p.stop(ctx, client, name)
		if err != nil {
			return err
		}
		alive = alive || was
	}
	if !alive {
		return nil
	}
	return retry.Pause(ctx, p.clock, checkpointEvery+checkpointEvery/2)
}

// stop has a record say that everything is being removed, and reports whether its process may live.
func (p *Runner) stop(ctx context.Context, client kubeclient.Interface, record string) (alive bool, err error) {
	leases := client.CoordinationV1().Leases(RecordNamespace)
	// A conflict is a process that lives, and has just written.
	err = againAfterConflict(func() error {
		have, err := leases.Get(ctx, record, metav1.GetOptions{})
		if err != nil || checkpointOf(have).Scenario != p.label {
			alive = false
			return gone(err)
		}
		alive = p.alive(checkpointOf(have))
		have.Spec.HolderIdentity = ptr.To(cleaner)
		_, err = leases.Update(ctx, have, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
	return alive, err
}

// alive reports whether the process that has written a record may live: it has written lately, or nobody knows when.
func (p *Runner) alive(was checkpoint) bool {
	return was.Wall.IsZero() || p.clock.Since(was.Wall).Abs() < 10*checkpointEvery
}

// between two passes over what is left.
const (
	passFirst = 100 * time.Millisecond
	passMost  = 2 * time.Second
)
