package roll

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// Karpenter is Karpenter's controllers of NodeClaims and their nodes
// (kubernetes-sigs/karpenter, pkg/controllers): the lifecycle that launches,
// registers, initializes and finalizes (karpenter_claim.go), the termination
// that drains a deleted node (karpenter_terminate.go), the interruption queue
// (karpenter_interrupt.go), and the provisioner that finds machines for pods
// without a place (karpenter_provision.go and karpenter_place.go). What decides that a node is replaced
// is the strategy [KarpenterDrift].
//
// Its groups are NodePools: detached groups of the cloud, named alike.
type Karpenter struct {
	env    *component.Env
	cfg    KarpenterConfig
	chance model.Stream
	drains *Drainer

	claims    map[string]*claim // by instance
	named     map[string]*claim // by name
	announced map[eventKey]kube.Instant
	// reasons are why nodes are being deleted, by NodeClaim: what evictions say.
	reasons map[string]string

	pending   []*kube.Pod // that fit nowhere, in the order in which that was said
	unplaced  []*kube.Pod // of those that no new node would take, until they are looked at again
	nominated map[*kube.Pod]*claim
	refused   map[*kube.Pod]bool // that a node of the pool had room for and didn't take
	rooms     []*room            // of claims on their way, in the order of their launch
	judge     scheduler.Scheduler
	agents    scheduler.Agents
	newNodes  map[newNodeOf]*scheduler.NewNode
	volumes   map[scheduler.ClaimName]string // their zones
	short     map[poolZone]kube.Instant      // until when a zone counts as one without capacity
	batching  bool
	waiting   bool // a look at unplaced is in the loop
	back      bool // another Karpenter launches what they want
}

// KarpenterConfig configures Karpenter.
type KarpenterConfig struct {
	// Groups are its NodePools.
	Groups []*cloud.Group
	Shapes Shapes
	// Kubelets says what a new node looks like to the scheduler.
	Kubelets kubelet.Config
	// GracePeriod is terminationGracePeriod of the NodePools: how long a node may take to go, for which pods are deleted
	// their own grace period earlier; 0 is for ever.
	GracePeriod time.Duration
	// Interruptions says that an interruption queue is configured; without one
	// Karpenter learns of no notice.
	Interruptions bool
	// Pools says that NodePools are objects, and not names alone; Budget is their limit of nodes that may be
	// disrupted at a time, "" for Karpenter's default.
	Pools  bool
	Budget string
}

const (
	terminationFinalizer = "karpenter.sh/termination"
	disruptedTaint       = "karpenter.sh/disrupted"
	unregisteredTaint    = "karpenter.sh/unregistered"
	doNotDisrupt         = "karpenter.sh/do-not-disrupt"
)

// Delays that Karpenter's controllers have, beside those of model.Timings: a write until the controller that watches
// it has answered, and the second that it waits after a write of its own (nodeclaim/lifecycle/controller.go).
var (
	karpenterReacts = model.Uniform(50*time.Millisecond, 300*time.Millisecond)
	karpenterPause  = model.Fixed(time.Second)
	createFleet     = model.Uniform(1500*time.Millisecond, 3*time.Second)
)

// NewKarpenter starts the controllers. Nodes that are there already are given
// NodeClaims by SeedNodeClaims.
func NewKarpenter(env *component.Env, cfg KarpenterConfig) *Karpenter {
	k := &Karpenter{
		env: env, cfg: cfg, chance: env.Stream("karpenter"), drains: NewDrainer(env),
		claims: map[string]*claim{}, named: map[string]*claim{}, announced: map[eventKey]kube.Instant{}, reasons: map[string]string{}, nominated: map[*kube.Pod]*claim{}, refused: map[*kube.Pod]bool{},
		judge: scheduler.Scheduler{Env: env}, newNodes: map[newNodeOf]*scheduler.NewNode{}, volumes: map[scheduler.ClaimName]string{}, short: map[poolZone]kube.Instant{},
	}
	env.API.WatchNodes(k.nodeChanged)
	env.API.WatchPods(k.podChanged)
	env.Cloud.Watch(k.instanceChanged)
	return k
}

// SeedNodeClaims creates the NodeClaims of the nodes that are there: call it at 0s, with the nodes seeded and before
// their list on the tape ends, or when Karpenter was restarted. Nodes get their owner by it; those of a Karpenter
// that was restarted lose what only its memory knew the end of, the taint of a disruption
// (pkg/controllers/disruption/controller.go), continue to join where they had not joined yet, and continue to leave
// where they were on their way out: the API has their deletion.
func (k *Karpenter) SeedNodeClaims() {
	for _, g := range k.cfg.Groups {
		if k.cfg.Pools {
			k.createPool(g)
		}
		for _, i := range g.Instances() {
			if n := k.env.API.Node(i.Name); n != nil && k.claims[i.ID] == nil {
				k.seed(g, i, n)
			}
		}
	}
}

// seed creates the NodeClaim of a node.
func (k *Karpenter) seed(g *cloud.Group, i *cloud.Instance, n *kube.Node) {
	c := k.newClaim(g, i.Template)
	if o := n.Owner; o != nil && o.Kind == kube.NodeClaims.Kind {
		c.object.Name = o.Name // it is there already
		c.initialized = n.Labels.Get("karpenter.sh/initialized") == "true"
	} else {
		c.initialized = !n.HasTaint(unregisteredTaint, "")
	}
	c.registered = !n.HasTaint(unregisteredTaint, "")
	c.object.Created = n.Created.Add(-30 * time.Second)
	k.bind(c, i)
	reached := map[string]bool{"Launched": true, "Registered": c.registered, "Initialized": c.initialized, "Consolidatable": c.initialized, "Ready": c.initialized}
	for _, kind := range [...]string{"Consolidatable", "Initialized", "Launched", "Ready", "Registered"} {
		is := kube.Condition{Type: kind, Status: "True", Reason: kind, Transition: n.Created.Second(), Observed: 1}
		if !reached[kind] {
			is.Status, is.Reason, is.Message = "Unknown", "AwaitingReconciliation", "object is awaiting reconciliation"
		}
		c.object.Conditions = c.object.Conditions.Set(is)
	}
	if !c.initialized {
		k.root(c.object, n.Created.Second())
	}
	c.object.SetStatus("nodeName", kube.Quote(n.Name))
	if k.env.API.CreateCustom(c.object) != nil {
		return
	}
	k.named[c.object.Name] = c
	if n.Terminating() {
		k.deleteClaim(c)
		k.soon(func() { k.terminate(n) })
		return
	}
	if !c.initialized {
		k.joinSoon(c)
	}
	k.env.API.UpdateNode(n, func(n *kube.Node) {
		n.RemoveTaint(disruptedTaint, "")
		if c.registered {
			n.SetFinalizer(terminationFinalizer, true)
			n.Owner = c.owner()
		}
		if c.initialized {
			n.Labels = n.Labels.With("karpenter.sh/initialized", "true")
		}
	})
}

// Holds reports whether Karpenter's finalizer is all that keeps a Node that is being deleted: then one that was
// restarted continues its end.
func Holds(finalizers []string) bool {
	return len(finalizers) == 1 && finalizers[0] == terminationFinalizer
}

func (k *Karpenter) owns(g *cloud.Group) bool {
	for _, own := range k.cfg.Groups {
		if own == g {
			return true
		}
	}
	return false
}

// soon does something when the controllers have noticed.
func (k *Karpenter) soon(do func()) { k.env.After(k.env.Draw(&k.chance, karpenterReacts), do) }

// eventKey identifies the object of an event; Karpenter says the same once in two minutes (pkg/events/recorder.go).
type eventKey struct{ kind, name, reason, about string }

const saysAgain = 2 * time.Minute

// publish reports an event, unless the same was reported lately.
func (k *Karpenter) publish(about kube.Reference, kind, reason, message, same string) {
	id := eventKey{about.Kind, about.Namespace + "/" + about.Name, reason, same}
	now := k.env.API.Now()
	if at, ok := k.announced[id]; ok && now.Sub(at) < saysAgain {
		return
	}
	if len(k.announced) > 10000 {
		clear(k.announced)
	}
	k.announced[id] = now
	k.env.API.Record(kube.Source{Component: "karpenter"}, about, kind, reason, message)
}

// publishBoth reports an event on a node and on its NodeClaim.
func (k *Karpenter) publishBoth(n *kube.Node, c *claim, kind, reason, message string) {
	if n != nil && !n.Gone() {
		k.publish(kube.AboutNode(n), kind, reason, message, "")
	}
	if !c.object.Gone() {
		k.publish(c.about(), kind, reason, message, "")
	}
}
