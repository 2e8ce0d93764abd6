package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/retry"
)

// A write that conflicts with another one is made again so often, with such a pause before.
const (
	conflictTries = 5
	conflictPause = 10 * time.Millisecond
)

// A notReadyError says that nothing was written because the provider doesn't say that the node lives.
type notReadyError struct{ err error }

// Error implements error.
func (e *notReadyError) Error() string { return e.err.Error() }

// Unwrap is the error of the ping.
func (e *notReadyError) Unwrap() error { return e.err }

// reported is the last report of the status, by which the next one may be found needless.
type reported struct {
	at         time.Time
	heartbeat  metav1.Time
	generation int       // of the desired node
	flip       time.Time // of the readiness
	uid        types.UID
	version    string        // of the live node that was found as it should be
	delay      time.Duration // by which the interval is longer or shorter
}

// statusRound is one turn of the status's task.
func (n *NodeController) statusRound(ctx context.Context) time.Duration {
	interval := n.statusInterval
	if n.lease == nil {
		interval = n.pingInterval
	}
	err := n.updateStatus(ctx)
	if err != nil && ctx.Err() == nil {
		err = n.recover(ctx, err)
	}
	if ctx.Err() != nil {
		return interval
	}
	if err == nil {
		if n.failures > 0 {
			klog.FromContext(ctx).Info("status is written again", "node", n.name, "failures", n.failures)
			n.failures = 0
		}
		return n.jitter(interval)
	}
	if n.failures++; n.failures == 1 || n.statusTrouble != nil {
		klog.FromContext(ctx).Error(err, "status not written", "node", n.name)
	}
	if passing(err) || apierrors.IsConflict(err) {
		return min(n.backoff(n.failures), n.jitter(interval))
	}
	return n.jitter(interval)
}

// recover does what can be done about a status that wasn't written.
func (n *NodeController) recover(ctx context.Context, err error) error {
	var ill *notReadyError
	if errors.As(err, &ill) {
		return err
	}
	if n.statusTrouble != nil {
		if err = n.statusTrouble(ctx, err); err != nil || ctx.Err() != nil {
			return err
		}
		return n.ensure(ctx)
	}
	if apierrors.IsNotFound(err) {
		return n.ensure(ctx)
	}
	return err
}

// updateStatus writes the wished status to the node, whose absence is a NotFound.
func (n *NodeController) updateStatus(ctx context.Context) error {
	readiness, err := n.readiness(ctx)
	if err != nil {
		return err
	}
	live, err := n.look(ctx)
	if err != nil {
		return err
	}
	return n.report(ctx, live, readiness)
}

// readiness waits until the provider has said whether the node lives.
func (n *NodeController) readiness(ctx context.Context) (readiness, error) {
	ill := n.pinger.health(ctx)
	if ctx.Err() != nil {
		return readiness{}, context.Cause(ctx)
	}
	p := readiness{heartbeat: metav1.NewTime(n.clock.Now())}
	if n.notReady {
		p.ill, p.flip = ill, n.pinger.flipped()
	} else if ill != nil {
		return p, &notReadyError{fmt.Errorf("status of node %s not written: %w", n.name, ill)}
	}
	return p, nil
}

// look returns the node as it is now, from the cache where that can be believed.
func (n *NodeController) look(ctx context.Context) (*corev1.Node, error) {
	if n.lister == nil {
		return n.get(ctx)
	}
	node, err := n.lister.Get(n.name)
	if _, known := n.identity(); err == nil && n.believable(node) || apierrors.IsNotFound(err) && !known {
		return node, err
	}
	return n.get(ctx)
}

// get asks the server.
func (n *NodeController) get(ctx context.Context) (*corev1.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	node, err := n.nodes.Get(ctx, n.name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get node %s: %w", n.name, err)
	}
	return node, nil
}

// report writes what has to be written to a live node.
func (n *NodeController) report(ctx context.Context, live *corev1.Node, p readiness) error {
	return n.insist(ctx, live, func(live *corev1.Node) (err error) {
		desired := n.desired() // once: what the cache's node needn't have is decided by it
		if leftOut(live) && !(n.young(live) && n.same(desired, live, p)) {
			if live, err = n.get(ctx); err != nil {
				return err
			}
		}
		n.adopt(live)
		if n.keepSpec {
			next, err := n.reconcileSpec(ctx, desired.node, live)
			if err != nil {
				return err
			}
			live = next
		}
		return n.reportStatus(ctx, desired, live, p)
	})
}

// reportStatus writes the status, or finds that needless.
func (n *NodeController) reportStatus(ctx context.Context, desired desired, live *corev1.Node, p readiness) error {
	needless, err := n.needless(desired, live, p)
	if err != nil || needless {
		return err
	}
	patch, err := statusPatch(following(composed(desired.node, p), live, p), live)
	if err != nil {
		return err
	}
	node, err := n.patch(ctx, types.StrategicMergePatchType, patch, "status")
	if err != nil {
		return err
	}
	n.note(desired, node, p)
	return nil
}

// patch has the server change the node, and takes note of the answer.
func (n *NodeController) patch(ctx context.Context, kind types.PatchType, patch []byte, subresources ...string) (*corev1.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	node, err := n.nodes.Patch(ctx, n.name, kind, patch, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return nil, fmt.Errorf("patch node %s: %w", n.name, err)
	}
	n.adopt(node)
	return node, nil
}

// insist writes again, to the node as it is then, where a write conflicts with another one, or where the node has become
// another one meanwhile.
func (n *NodeController) insist(ctx context.Context, live *corev1.Node, write func(*corev1.Node) error) error {
	for try := 1; ; try++ {
		err := write(live)
		// A patch that names another UID is Invalid, not a conflict (k8s.io/kubernetes,
		// pkg/controller/controller_ref_manager.go, ReleasePod).
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) || try == conflictTries {
			return err
		}
		before := live.UID
		if failed := retry.Pause(ctx, n.clock, conflictPause); failed != nil {
			return failed
		}
		next, failed := n.get(ctx)
		if failed != nil {
			return failed
		}
		if live = next; apierrors.IsInvalid(err) && live.UID == before {
			return err
		}
	}
}
