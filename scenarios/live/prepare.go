package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
)

// prepare checks that the scenario can run, and creates what it needs before its nodes come.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.clients, err = r.connect(ctx); err != nil {
		return err
	}
	if err := r.plan(); err != nil {
		return err
	}
	if err := r.checkRights(ctx, r.clients.kube, r.rights()); err != nil {
		return err
	}
	if _, _, err := r.peek(ctx, r.clients.kube); err != nil {
		return err
	}
	confined, err := r.foreign(ctx, r.clients.kube)
	if err != nil {
		return err
	}
	if err := r.takeRecord(ctx); err != nil || r.report.Standby {
		return err
	}
	r.wrote = true
	r.resumed = r.report.Adopted && r.lock.now.Begun
	r.hadRolled, r.resumeAt = r.report.Adopted && r.lock.now.Rolled, r.lock.resumeAt()
	r.startRenewal()
	r.apiServer.prerequisites.confined = confined
	if err := r.define(ctx); err != nil {
		return err
	}
	for _, o := range r.objects {
		if !r.resumed && o.waits() && !r.sim.Placing() {
			r.later = append(r.later, o)
			continue
		}
		if err := r.again(ctx, func(ctx context.Context) error {
			_, err := r.apiServer.prerequisites.create(ctx, o)
			return err
		}); err != nil {
			return err
		}
	}
	if r.report.Adopted {
		return errors.Join(r.again(ctx, r.find), r.again(ctx, r.removeFinalizers))
	}
	return nil
}

// takeRecord claims the live run, or a shard of it, which is what the scenario is made of from then on.
func (r *run) takeRecord(ctx context.Context) (err error) {
	if !r.sharded() {
		if err := r.findCustomKinds(ctx); err != nil {
			return err
		}
		r.lock, r.report.Adopted, err = r.claim(ctx, r.clients.kube)
		return err
	}
	if r.lock, r.report.Adopted, r.report.Standby, err = r.claimShard(ctx, r.clients.kube); err != nil || r.report.Standby {
		return err
	}
	r.Runner = r.lock.p
	return r.plan()
}

// createWorkloads creates the workloads once all nodes are Ready and free of the taint of those
// that aren't, and the server has come to rest, so that the scheduler has all of them
// to choose from: on a busy machine it learns of a node late.
func (r *run) createWorkloads(missing []string) {
	if slices.ContainsFunc(missing, func(m string) bool { return strings.HasPrefix(m, "node ") }) {
		r.still = time.Time{}
		return
	}
	if !r.quiet() {
		return
	}
	for _, o := range r.later {
		r.apiServer.writeQueue.send(o.key(), "create "+o.key(), func(ctx context.Context) error {
			_, err := r.apiServer.prerequisites.create(ctx, o)
			return err
		})
	}
	r.later, r.still = nil, time.Time{}
}

// plan finds out what the scenario is made of; it asks and writes nothing.
func (r *run) plan() (err error) {
	r.eventLoop = newEventLoop(r.clock)
	r.pace = newPace(r.clock, r.speed, 0)
	r.apiServer = &apiServer{
		label: r.label, client: r.clients.kube, prerequisites: &prerequisites{label: r.label, client: r.clients.dynamic}, mark: r.mark,
		kubelets: newKubelets(r.clients.kube, r.renewal(), r.file.Nodes(), r.warn),
	}
	r.apiServer.kubelets.label = r.label
	r.apiServer.customResources = &customResources{label: r.label, client: r.clients.dynamic, known: map[string]*customResource{}, kubelets: r.apiServer.kubelets}
	r.sim, err = r.scenario.simulate(scenarios.LiveConfig{APIServer: r.apiServer, Speed: r.speed, Now: r.clock.Now, Wall: r.pace.wall, ExternalRoller: r.scenario.plain, FirstMachine: r.firstMachine, Hold: r.sharded()})
	if err != nil {
		return err
	}
	r.kinds = r.sim.CustomKinds()
	if r.objects, err = r.apiServer.prerequisites.planAll(r.sim.Objects()); err != nil {
		return err
	}
	r.during, err = r.apiServer.prerequisites.planAll(r.sim.Later())
	return err
}

// renewal returns the interval between two renewals of a lease.
func (r *run) renewal() time.Duration {
	if r.renew > 0 {
		return r.renew
	}
	speed := r.speed
	if r.hurried > 0 {
		speed = r.hurried
	}
	return Renewal(speed, r.nodesOfAll)
}

// find lists the nodes that an earlier live run has left: those to resume, and those that are on their way out.
func (r *run) find(ctx context.Context) error {
	list, err := r.clients.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: Label + "=" + r.label})
	if err != nil {
		return fmt.Errorf("look for nodes of an earlier live run: %w", err)
	}
	r.nodes, r.leaving = nil, nil
	for i := range list.Items {
		if n := &list.Items[i]; r.sharded() && !r.sim.HasGroupOf(n) {
			continue // another process's
		} else if n.DeletionTimestamp == nil || r.sim.Resumable(n) {
			unmark(n)
			controller.LeaveOutApplied(n)
			r.nodes = append(r.nodes, n)
		} else {
			r.leaving = append(r.leaving, n)
		}
	}
	return nil
}

// removeFinalizers takes the finalizers of nodes away that are on their way out: who held them
// knows no longer why.
func (r *run) removeFinalizers(ctx context.Context) error {
	for _, n := range r.leaving {
		if err := release(ctx, r.clients.dynamic.Resource(nodesResource), n.Name, n.UID); err != nil {
			return fmt.Errorf("let node %s of an earlier live run go: %w", n.Name, err)
		}
	}
	return nil
}

// ForeignNodesError says that the cluster has nodes that no live run has made. A live run among them could do harm:
// real workloads may be scheduled to its nodes.
type ForeignNodesError struct {
	Server  string
	Count   int
	Example string
}

// Error implements error.
func (e *ForeignNodesError) Error() string {
	return fmt.Sprintf("cluster %s: found %s that no live run of this scenario has made, such as %s: want a cluster without, or to be told that this one is meant",
		e.Server, phrase.Count(e.Count, "node"), e.Example)
}

// foreign reports whether there are nodes that no live run has made, and refuses
// them unless the cluster is known.
func (p *Runner) foreign(ctx context.Context, client kubeclient.Interface) (found bool, err error) {
	var list *corev1.NodeList
	if err := p.again(ctx, func(ctx context.Context) (err error) {
		list, err = client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: Label + "!=" + p.label, Limit: 500})
		if err != nil {
			return fmt.Errorf("cluster %s: look whether it has nodes of its own: %w", p.config.Host, err)
		}
		return nil
	}); err != nil {
		return false, err
	}
	n := len(list.Items)
	if n > 0 && !p.known {
		if list.RemainingItemCount != nil {
			n += int(*list.RemainingItemCount)
		}
		return true, &ForeignNodesError{Server: p.config.Host, Count: n, Example: list.Items[0].Name}
	}
	return n > 0, nil
}
