package roll

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// mng does what EKS does for managed node groups of spot instances ("Managed node group capacity types" in its user
// guide). On a rebalance recommendation the Auto Scaling group launches a replacement (Capacity Rebalancing), and
// when that is Ready, the old node is cordoned, drained and terminated. Where the notice comes before that, the node
// is drained at once, as far as two minutes reach. None of it leaves a taint or an Event.
type mng struct {
	env      *component.Env
	cfg      HandlerConfig
	chance   model.Stream
	drains   *Drainer
	awaiting []*rebalance
}

// rebalance is an instance whose replacement is awaited.
type rebalance struct {
	old, fresh *cloud.Instance
	draining   bool
}

// mngDrain bounds a drain that no notice hurries.
const mngDrain = 15 * time.Minute

func newMNG(env *component.Env, cfg HandlerConfig) {
	h := &mng{env: env, cfg: cfg, chance: env.Stream("mng"), drains: NewDrainer(env)}
	env.Cloud.Watch(h.instanceChanged)
	env.API.WatchNodes(func(c kube.Change, old, n *kube.Node) {
		if c != kube.Modified || old.Ready() || !n.Ready() {
			return
		}
		for _, r := range h.awaiting {
			if r.fresh != nil && r.fresh.Name == n.Name {
				env.After(env.Draw(&h.chance, env.Timings.InterruptionLatency), func() { h.replaced(r) })
			}
		}
	})
}

func (h *mng) instanceChanged(c cloud.Change, i *cloud.Instance) {
	if !h.cfg.covers(i.Group) {
		return
	}
	switch {
	case c == cloud.Told && i.Notice == 0:
		h.env.After(h.env.Draw(&h.chance, h.env.Timings.InterruptionLatency), func() { h.recommended(i) })
	case c == cloud.Told:
		h.env.After(h.env.Draw(&h.chance, h.env.Timings.InterruptionLatency), func() { h.noticed(i) })
	case c == cloud.Launched:
		for _, r := range h.awaiting {
			if r.fresh == nil && r.old.Group == i.Group {
				r.fresh = i
				break
			}
		}
	case c == cloud.ShutdownAsk || c == cloud.Ended && i.State == cloud.Terminated:
		h.env.After(0, func() { h.ended(i) })
	}
}

// recommended has the group launch a replacement.
func (h *mng) recommended(i *cloud.Instance) {
	if i.State != cloud.Running || i.Notice != 0 || h.of(i) != nil {
		return
	}
	h.awaiting = append(h.awaiting, &rebalance{old: i})
	h.env.Cloud.SetDesired(i.Group, i.Group.Desired+1)
}

func (h *mng) of(i *cloud.Instance) *rebalance {
	for _, r := range h.awaiting {
		if r.old == i {
			return r
		}
	}
	return nil
}

// replaced drains the old node, and terminates its instance.
func (h *mng) replaced(r *rebalance) {
	if r.draining || r.old.State != cloud.Running {
		return
	}
	r.draining = true
	end := func(error) { h.env.Cloud.Terminate(r.old, false) }
	if n := h.env.API.Node(r.old.Name); n != nil {
		h.drain(n, mngDrain, end)
	} else {
		end(nil)
	}
}

// noticed drains at once.
func (h *mng) noticed(i *cloud.Instance) {
	if n := h.env.API.Node(i.Name); n != nil {
		h.drain(n, 0, func(error) {})
	}
}

func (h *mng) drain(n *kube.Node, limit time.Duration, done func(error)) {
	h.env.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = true
		n.Labels = n.Labels.With(excludeBalancers, "true")
	})
	h.drains.Drain(n, Drain{Retry: h.env.Timings.EvictionRetry, Timeout: limit}, done)
}

// ended takes the replacement into the group's size in the place of the old
// instance, which is gone.
func (h *mng) ended(i *cloud.Instance) {
	if i.State == cloud.Terminated {
		h.drains.Cancel(i.Name)
	}
	for k, r := range h.awaiting {
		switch i {
		case r.old:
			h.awaiting = append(h.awaiting[:k:k], h.awaiting[k+1:]...)
			h.env.Cloud.SetDesired(i.Group, i.Group.Desired-1)
			return
		case r.fresh:
			r.fresh = nil // the group launches another
			return
		}
	}
}
