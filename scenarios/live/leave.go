package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// leaveBehind removes what the performance made, or says that it stays. why is the
// error that it ended with: what another process has taken over is that one's.
func (r *run) leaveBehind(ctx context.Context, why error) error {
	defer r.clients.close()
	var taken *takenOverError
	if errors.As(why, &taken) && taken.performs() {
		return nil
	}
	if r.keep {
		return r.lastNote(ctx)
	}
	r.tell(Progress{Phase: Leaving, At: r.report.Position, Adopted: r.report.Adopted})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.leave)
	defer cancel()
	return r.sweep(ctx, &r.report)
}

// abandon removes what a preparation that failed has made, and nothing that was
// there before.
func (r *run) abandon() error {
	if r.clients == nil {
		return nil
	}
	defer r.clients.close()
	if !r.wrote || r.report.Adopted || r.keep {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.leave)
	defer cancel()
	return r.sweep(ctx, &r.report)
}

// lastNote notes where a performance that is kept has stopped.
func (r *run) lastNote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptMost)
	defer cancel()
	if err := r.ledger.note(ctx, r.begun.Load(), r.done.Load(), r.report.Position); err != nil {
		return fmt.Errorf("note where the performance has stopped: %w", err)
	}
	return nil
}

func (r *run) sweep(ctx context.Context, report *Report) error {
	s := &sweep{p: r.Performer, clients: r.clients, resources: resourcesOf(r.objects), seen: map[string]bool{}, hosts: map[string]bool{}}
	for _, kind := range slices.Backward(r.kinds) {
		s.customs = append(s.customs, kind.GroupVersionResource)
	}
	if len(r.kinds) > 0 {
		s.customs = append(s.customs, definitionsResource)
	}
	return s.run(ctx, report)
}

// Cleanup removes what performances of this scenario have left in the cluster:
// what carries [Label] with its name, the pods on its nodes and in its namespaces,
// and nothing else. A process that performs it is told to end. It may be repeated.
func (p *Performer) Cleanup(ctx context.Context) (Report, error) {
	ctx = quietly(ctx)
	r := &run{Performer: p}
	var err error
	if r.clients, err = p.connect(ctx); err != nil {
		return r.report, err
	}
	defer r.clients.close()
	if err := r.plan(); err != nil {
		return r.report, err
	}
	p.tell(Progress{Phase: Leaving})
	ctx, cancel := context.WithTimeout(ctx, p.leave)
	defer cancel()
	if err = p.again(ctx, func(ctx context.Context) error { return p.dismiss(ctx, r.clients.kube) }); err == nil {
		err = r.sweep(ctx, &r.report)
	}
	return r.report, err
}

// dismiss tells a process that performs the scenario that it is over, and waits
// until it has had the time to read that. Where none can be, it doesn't wait.
func (p *Performer) dismiss(ctx context.Context, client kubernetes.Interface) error {
	maps := client.CoreV1().ConfigMaps(RecordNamespace)
	alive := false
	// A conflict is a process that lives, and has just written.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		have, err := maps.Get(ctx, RecordName, metav1.GetOptions{})
		if err != nil || diaryOf(have).Scenario != p.label {
			alive = false
			return gone(err)
		}
		noted, err := time.Parse(time.RFC3339Nano, diaryOf(have).Wall)
		alive = err != nil || p.clock.Since(noted).Abs() < 10*checkpointEvery
		have.Data["holder"] = cleaner
		_, err = maps.Update(ctx, have, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
	if err != nil || !alive {
		return err
	}
	return pause(ctx, p.clock, checkpointEvery+checkpointEvery/2)
}

// between two passes over what is left.
const (
	passFirst = 100 * time.Millisecond
	passMost  = 2 * time.Second
)
