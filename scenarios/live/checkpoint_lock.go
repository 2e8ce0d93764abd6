package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/retry"
)

// A checkpointLock is the lock on the checkpoint in the cluster, as this process holds it. All processes write a record only in
// the version that they have read, so that of two that take it one is refused.
type checkpointLock struct {
	p      *Runner
	client kubeclient.Interface
	holder string
	have   *coordinationv1.Lease
	now    checkpoint
}

// A verdict is what a process is to do about a record.
type verdict string

const (
	toWait  verdict = "wait"  // another process has it, and may live
	toTake  verdict = "take"  // no process has it, or one that is silent
	toRenew verdict = "renew" // this process has it
	toEnd   verdict = "end"   // this process had it, and has lost it
)

// judge says what a process that had a record, or looks for one, is to do about it, where it hasn't seen the record change for a time
// by its own clock: the holder's may be another one (k8s.io/client-go/tools/leaderelection, isLeaseValid). A record that is being
// removed is nobody's, and one without a duration doesn't expire.
func judge(l *coordinationv1.Lease, process string, had bool, silent time.Duration) verdict {
	was := checkpointOf(l)
	switch lasts := time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second; {
	case was.Holder == process:
		return toRenew
	case had:
		return toEnd
	case was.Holder == "" && !was.Ended, was.Holder != cleaner && lasts > 0 && silent >= lasts:
		return toTake
	}
	return toWait
}

// lasts is the time after which a record that doesn't change is of a process that has died. One that lives writes again within
// checkpointEvery; where others wait for its shard, it may miss four of them.
func (p *Runner) lasts() time.Duration {
	if p.sharded() {
		return silentFor
	}
	return checkpointEvery + checkpointEvery/2
}

// claim takes the record for this process, and says whether there was one of an earlier live run to resume. One whose
// process still lives is refused, and the end of one that is being removed is waited for.
func (p *Runner) claim(ctx context.Context, client kubeclient.Interface) (l *checkpointLock, adopted bool, err error) {
	l = p.newLock(client)
	for began := p.clock.Now(); ; {
		if mine, err := l.look(ctx, true); err != nil || mine {
			return l, false, err
		}
		if checkpointOf(l.have).Holder != cleaner {
			break
		}
		if p.clock.Since(began) > p.removeWithin {
			return nil, false, p.stillRemoved()
		}
		p.tell(Progress{Phase: Preparing, Waiting: []string{"an earlier live run of this scenario is being removed"}})
		if err := retry.Pause(ctx, p.clock, checkpointEvery); err != nil {
			return nil, false, err
		}
	}
	was := checkpointOf(l.have)
	if err := retry.Pause(ctx, p.clock, p.lasts()); err != nil {
		return nil, false, err
	}
	holder := l.holder
	if err := p.again(ctx, func(ctx context.Context) (err error) { holder, err = l.takeOver(ctx); return err }); err != nil {
		return nil, false, err
	}
	if holder != l.holder {
		return nil, false, &OtherRunError{Server: p.config.Host, Scenario: was.Scenario, Found: "by " + holder, Running: true}
	}
	return l, true, nil
}

// stillRemoved is the error of a live run that waits for the removal of an earlier one.
func (p *Runner) stillRemoved() error {
	return &OtherRunError{Server: p.config.Host, Scenario: p.label, Source: p.source, Found: "which has been being removed for " + p.removeWithin.String()}
}

func (p *Runner) newLock(client kubeclient.Interface) *checkpointLock {
	host, _ := os.Hostname()
	l := &checkpointLock{p: p, client: client, holder: fmt.Sprintf("%s:%d:%08x", host, os.Getpid(), rand.Uint32())}
	l.now = checkpoint{Scenario: p.label, Source: p.source, Values: p.values(), Speed: fmt.Sprintf("%gx", p.speed), At: "0s", Holder: l.holder}
	return l
}

// look reads the record, or, where it may begin one, creates it: then it is mine. The record of another live run is refused.
func (l *checkpointLock) look(ctx context.Context, begin bool) (mine bool, err error) {
	if err := l.p.again(ctx, func(ctx context.Context) (err error) { l.have, err = l.open(ctx, begin); return err }); err != nil {
		return false, err
	}
	if judge(l.have, l.holder, false, 0) == toRenew {
		return true, l.alone(ctx)
	}
	return false, l.p.refuse(checkpointOf(l.have))
}

// alone refuses a live run with shards beside one without, where both began in the same moment: neither found a record before it created
// its own. It takes its own back; if both find the other one, both do.
func (l *checkpointLock) alone(ctx context.Context) error {
	other := shardRecord(0)
	if l.p.sharded() {
		other = RecordName
	}
	have, err := l.p.readRecord(ctx, l.client, other)
	if err != nil || have == nil {
		return err
	}
	refusal := l.p.refuse(checkpointOf(have)) // always: its values have another number of shards
	err = l.p.again(ctx, func(ctx context.Context) error {
		return deleted(l.leases().Delete(ctx, l.p.record, onlyThis(l.have.UID, nil)))
	})
	return errors.Join(refusal, err)
}

// takeOver takes the record as it was looked at, with what it says of the run, and says whose it is.
func (l *checkpointLock) takeOver(ctx context.Context) (holder string, err error) {
	was := checkpointOf(l.have)
	l.now.Begun, l.now.Rolled, l.now.At, l.now.Wall = was.Begun, was.Rolled, was.At, was.Wall
	return l.take(ctx)
}

// open creates the record where it may, or reads the one that is there: it may be this process's
// own, where the answer was lost.
func (l *checkpointLock) open(ctx context.Context, begin bool) (*coordinationv1.Lease, error) {
	have, err := l.leases().Get(ctx, l.p.record, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) || !begin {
		return have, unread(l.p.record, err)
	}
	l.have = nil // an earlier record's, which is gone
	have, err = l.leases().Create(ctx, l.object(), metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) { // another client was faster
		have, err = l.leases().Get(ctx, l.p.record, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			err = apierrors.NewServiceUnavailable(err.Error())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("note the live run in lease %s/%s: %w", RecordNamespace, l.p.record, err)
	}
	return have, nil
}

// take makes the record that was read this process's, and says whose it is: that of
// who was faster.
func (l *checkpointLock) take(ctx context.Context) (holder string, err error) {
	switch err := l.write(ctx); {
	case err == nil:
		return l.holder, nil
	case !apierrors.IsConflict(err):
		return "", fmt.Errorf("take over the record of the live run, lease %s/%s: %w", RecordNamespace, l.p.record, err)
	}
	have, err := l.leases().Get(ctx, l.p.record, metav1.GetOptions{})
	if err != nil {
		return "", unread(l.p.record, err)
	}
	l.have = have
	return checkpointOf(have).Holder, nil
}

// resumeAt returns the moment at which an adopted live run resumes: as far as the wall clock says, but no further
// than a living process could have come after its last checkpoint.
func (l *checkpointLock) resumeAt() time.Duration {
	at, err := time.ParseDuration(l.now.At)
	if err != nil {
		return 0
	}
	if l.now.Wall.IsZero() {
		return at
	}
	passed := min(max(l.p.clock.Since(l.now.Wall), 0), checkpointEvery)
	return at + time.Duration(float64(passed)*l.p.speed)
}

// note brings the record up to date. One that resumes a scenario keeps what it was resumed from until it has begun itself.
func (l *checkpointLock) note(ctx context.Context, begun, rolled bool, at time.Duration) error {
	l.now.Begun, l.now.Rolled = l.now.Begun || begun, l.now.Rolled || rolled
	if begun {
		l.now.At = at.String()
	}
	err := l.write(ctx)
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return err
	}
	have, get := l.leases().Get(ctx, l.p.record, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(get):
		return &takenOverError{record: l.p.record}
	case get != nil:
		return get
	}
	if by := checkpointOf(have).Holder; by != l.now.Holder && judge(have, l.holder, true, 0) == toEnd {
		return &takenOverError{l.p.record, by}
	}
	l.have = have // the answer to an earlier write was lost, or a label was added
	return l.write(ctx)
}

func (l *checkpointLock) write(ctx context.Context) error {
	want := l.object()
	have, err := l.leases().Update(ctx, want, metav1.UpdateOptions{FieldManager: fieldManager})
	if err == nil {
		l.have = have
	}
	return err
}

func (l *checkpointLock) leases() kubeclient.Resource[*coordinationv1.Lease, *coordinationv1.LeaseList] {
	return l.client.CoordinationV1().Leases(RecordNamespace)
}

// object is the record as this process writes it now, after what it has read.
func (l *checkpointLock) object() *coordinationv1.Lease {
	now := metav1.NewMicroTime(l.p.clock.Now())
	o := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: RecordNamespace, Name: l.p.record, Labels: map[string]string{Label: l.p.label}, Annotations: map[string]string{}},
		Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To(int32(l.p.lasts() / time.Second)), AcquireTime: &now, RenewTime: &now},
	}
	for key, value := range map[string]string{
		"scenario": l.now.Scenario, "source": l.now.Source, "values": l.now.Values, "speed": l.now.Speed, "at": l.now.At,
		"begun": strconv.FormatBool(l.now.Begun), "rolled": strconv.FormatBool(l.now.Rolled), "ended": strconv.FormatBool(l.now.Ended),
	} {
		o.Annotations[annotation+key] = value
	}
	if l.now.Holder != "" {
		o.Spec.HolderIdentity = ptr.To(l.now.Holder)
	}
	if l.have == nil {
		return o
	}
	was := &l.have.Spec
	o.ResourceVersion, o.UID = l.have.ResourceVersion, l.have.UID
	o.Spec.AcquireTime, o.Spec.LeaseTransitions = was.AcquireTime, was.LeaseTransitions
	if l.now.Holder != "" && l.now.Holder != ptr.Deref(was.HolderIdentity, "") {
		o.Spec.AcquireTime, o.Spec.LeaseTransitions = &now, ptr.To(ptr.Deref(was.LeaseTransitions, 0)+1)
	}
	return o
}

// takenOver is why a live run was taken over, where an error says so, or nil.
func takenOver(err error) *takenOverError {
	var taken *takenOverError
	errors.As(err, &taken)
	return taken
}

// A takenOverError ends a live run whose record another process has written, or that was deleted.
type takenOverError struct{ record, by string }

// resumes reports whether the process that has taken the record over resumes the live run.
func (e *takenOverError) resumes() bool { return e != nil && e.by != "" && e.by != cleaner }

func (e *takenOverError) Error() string {
	if e.by == "" {
		return "the record of the live run (lease " + RecordNamespace + "/" + e.record + ") is gone: want it kept while the run lasts; --cleanup removes it"
	}
	return "the live run was taken over by " + e.by
}
