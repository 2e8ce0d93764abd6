package roll

import (
	"errors"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// claim is a NodeClaim and what its lifecycle has come to.
type claim struct {
	object      *kube.Custom
	group       *cloud.Group
	template    cloud.Template
	instance    *cloud.Instance // nil until it is launched
	registered  bool
	initialized bool
	queued      bool         // a look at its node is in the loop
	finalizing  bool         // its node's termination is in progress
	ends        kube.Instant // when its terminationGracePeriod ends, 0 before it began
	// settled is called once: the node serves, or the claim was given up.
	settled func(ok bool)
}

func (c *claim) about() kube.Reference {
	return kube.Reference{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: c.object.Name, UID: c.object.UID}
}

func (c *claim) owner() *kube.Owner {
	return &kube.Owner{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: c.object.Name, UID: c.object.UID}
}

// newClaim makes a NodeClaim that isn't stored yet.
func (k *Karpenter) newClaim(g *cloud.Group, t cloud.Template) *claim {
	capacity := capacityOf(g)
	c := &claim{group: g, template: t, object: &kube.Custom{Resource: kube.NodeClaims}}
	c.object.Name = g.Name + "-" + k.chance.Suffix()
	for k.env.API.Custom(kube.NodeClaims.Resource, "", c.object.Name) != nil {
		c.object.Name = g.Name + "-" + k.chance.Suffix()
	}
	c.object.Labels = kube.PairsOf(
		kube.Pair{Key: "karpenter.k8s.aws/ec2nodeclass", Value: "default"},
		kube.Pair{Key: "karpenter.sh/capacity-type", Value: capacity},
		kube.Pair{Key: "karpenter.sh/nodepool", Value: g.Name},
		kube.Pair{Key: "node.kubernetes.io/instance-type", Value: t.InstanceType},
	)
	c.object.Finalizers = []string{terminationFinalizer}
	c.object.Owner = &kube.Owner{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: g.Name, UID: k.nodePool(g).UID}
	c.object.Spec = claimSpec(t, capacity, `{"key":"karpenter.sh/nodepool","operator":"In","values":[`+kube.Quote(g.Name)+`]},`)
	return c
}

func capacityOf(g *cloud.Group) string {
	if g.Spot {
		return model.Spot
	}
	return model.OnDemand
}

// claimSpec is the spec of a NodeClaim, or, without the requirement of its NodePool
// in front, of the template of one.
func claimSpec(t cloud.Template, capacity, requirement string) string {
	return `{"expireAfter":"720h","nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},` +
		`"requirements":[` + requirement +
		`{"key":"node.kubernetes.io/instance-type","operator":"In","values":[` + kube.Quote(t.InstanceType) + `]},` +
		`{"key":"karpenter.sh/capacity-type","operator":"In","values":[` + kube.Quote(capacity) + `]}]}`
}

// bind fills in the machine of a claim.
func (k *Karpenter) bind(c *claim, i *cloud.Instance) {
	c.instance = i
	k.claims[i.ID] = c
	shape := k.cfg.Shapes(i)
	c.object.Labels = c.object.Labels.With("topology.kubernetes.io/zone", i.Zone)
	for _, p := range shape.PoolAnnotations {
		c.object.Annotations = c.object.Annotations.With(p.Key, p.Value)
	}
	c.object.SetStatus("imageID", kube.Quote(i.Template.Image))
	c.object.SetStatus("providerID", kube.Quote(shape.ProviderID))
}

// set sets a condition; reason "" is that of a condition that is True. Ready follows the three that it sums up
// (awslabs/operatorpkg, status).
func (k *Karpenter) set(c *claim, kind, status, reason, message string) {
	now := k.env.API.Now().Second()
	if reason == "" {
		reason = kind
	}
	k.env.API.UpdateCustom(c.object, func(o *kube.Custom) {
		o.Conditions = o.Conditions.Set(kube.Condition{Type: kind, Status: status, Reason: reason, Message: message, Transition: now, Observed: o.Generation})
		k.root(o, now)
	})
}

// root sets Ready to what the conditions below it say.
func (k *Karpenter) root(o *kube.Custom, now kube.Instant) {
	ready := kube.Condition{Type: "Ready", Status: "True", Reason: "Ready", Transition: now, Observed: o.Generation}
	for _, kind := range [...]string{"Launched", "Registered", "Initialized"} {
		if !o.Conditions.Is(kind, "True") {
			if ready.Message != "" {
				ready.Message += ", "
			}
			ready.Status, ready.Reason = "Unknown", "ReconcilingDependents"
			ready.Message += kind + "=Unknown"
		}
	}
	o.Conditions = o.Conditions.Set(ready)
}

// Launch creates a NodeClaim of a NodePool and launches its machine, in a zone
// or, where that is "", in the emptiest. settled, which may be nil, is called
// once the node serves, or with false when the claim was given up. It returns
// nil where the API refused the claim.
func (k *Karpenter) launch(g *cloud.Group, t cloud.Template, zone string, settled func(ok bool)) *claim {
	c := k.newClaim(g, t)
	c.settled = settled
	now := k.env.API.Now().Second()
	for _, kind := range [...]string{"Launched", "Registered", "Initialized"} {
		c.object.Conditions = c.object.Conditions.Set(kube.Condition{
			Type: kind, Status: "Unknown", Reason: "AwaitingReconciliation", Message: "object is awaiting reconciliation", Transition: now, Observed: 1,
		})
	}
	k.root(c.object, now)
	if err := k.env.API.CreateCustom(c.object); err != nil {
		k.env.Fail(err)
		return nil
	}
	k.named[c.object.Name] = c
	k.env.After(k.env.Draw(&k.chance, createFleet), func() { k.create(c, zone) })
	return c
}

// create asks the provider for the machine (nodeclaim/lifecycle/launch.go). One
// that it has no capacity for is given up at once.
func (k *Karpenter) create(c *claim, zone string) {
	if c.object.Terminating() || c.object.Gone() {
		k.settle(c, false)
		return
	}
	i, err := k.env.Cloud.Launch(c.group, zone, c.template)
	var none *cloud.NoCapacity
	if errors.As(err, &none) {
		k.short[poolZone{c.group, none.Zone}] = k.env.API.Now().Add(unavailable)
		k.publish(c.about(), "Warning", "InsufficientCapacityError", "NodeClaim "+c.object.Name+" event: creating instance, insufficient capacity, "+
			"with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient "+none.InstanceType+" capacity in the Availability Zone you requested ("+none.Zone+").", "")
		k.giveUp(c)
		return
	}
	if err != nil {
		k.giveUp(c)
		return
	}
	now := k.env.API.Now().Second()
	k.env.API.UpdateCustom(c.object, func(o *kube.Custom) {
		k.bind(c, i)
		set := func(kind, status, reason, message string) {
			o.Conditions = o.Conditions.Set(kube.Condition{Type: kind, Status: status, Reason: reason, Message: message, Transition: now, Observed: o.Generation})
		}
		set("Launched", "True", "Launched", "")
		set("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster")
		set("Initialized", "Unknown", "NodeNotFound", "Node not registered with cluster")
		k.root(o, now)
	})
	// registrationTTL of nodeclaim/lifecycle/liveness.go.
	k.env.After(15*time.Minute, func() {
		if !c.registered && !c.object.Gone() {
			k.giveUp(c)
		}
	})
}

// giveUp deletes a claim whose node doesn't come.
func (k *Karpenter) giveUp(c *claim) {
	k.settle(c, false)
	k.deleteClaim(c)
}

func (k *Karpenter) settle(c *claim, ok bool) {
	if f := c.settled; f != nil {
		c.settled = nil
		f(ok)
	}
}

func (k *Karpenter) nodeChanged(change kube.Change, old, n *kube.Node) {
	if change == kube.Modified && n.Terminating() && !old.Terminating() {
		k.soon(func() { k.terminate(n) })
		return
	}
	if change == kube.Modified && old.Ready() == n.Ready() && len(old.Taints) == len(n.Taints) {
		return
	}
	i := k.env.Cloud.ByNode(n.Name)
	if i == nil {
		return
	}
	c := k.claims[i.ID]
	switch {
	case c == nil:
	case change == kube.Modified && n.Terminating() && i.State == cloud.Terminated:
		k.soon(func() { k.ended(i) })
	case change == kube.Deleted:
		k.soon(func() { k.finalize(c) })
	case !c.initialized && !c.queued:
		k.joinSoon(c)
	}
}

// joinSoon looks at a claim's node, a pause from now.
func (k *Karpenter) joinSoon(c *claim) {
	c.queued = true
	k.env.After(k.env.Draw(&k.chance, karpenterPause), func() {
		c.queued = false
		k.join(c)
	})
}

// join registers a claim's node, and initializes it once it serves
// (nodeclaim/lifecycle/registration.go and initialization.go).
func (k *Karpenter) join(c *claim) {
	n := k.env.API.Node(c.instance.Name)
	if n == nil || c.initialized || c.object.Terminating() || c.object.Gone() {
		return
	}
	if !c.registered {
		c.registered = true
		shape := k.cfg.Shapes(c.instance)
		k.env.API.UpdateNode(n, func(n *kube.Node) {
			n.SetFinalizer(terminationFinalizer, true)
			n.Owner = c.owner()
			for _, p := range shape.PoolLabels {
				n.Labels = n.Labels.With(p.Key, p.Value)
			}
			for _, p := range shape.PoolAnnotations {
				n.Annotations = n.Annotations.With(p.Key, p.Value)
			}
			n.Labels = n.Labels.With("karpenter.sh/registered", "true")
			n.RemoveTaint(unregisteredTaint, "")
		})
		k.env.API.UpdateCustom(c.object, func(o *kube.Custom) { o.SetStatus("nodeName", kube.Quote(n.Name)) })
		k.set(c, "Registered", "True", "", "")
	}
	switch {
	case !n.Ready():
		k.set(c, "Initialized", "Unknown", "NodeNotReady", "Node status is NotReady")
	case n.HasTaint("node.kubernetes.io/not-ready", "NoSchedule") || n.HasTaint("node.cloudprovider.kubernetes.io/uninitialized", ""):
		key := "node.kubernetes.io/not-ready"
		if !n.HasTaint(key, "NoSchedule") {
			key = "node.cloudprovider.kubernetes.io/uninitialized"
		}
		k.set(c, "Initialized", "Unknown", "KnownEphemeralTaintsExist", "KnownEphemeralTaint \""+key+":NoSchedule\" still exists")
	default:
		c.initialized = true
		k.env.API.UpdateNode(n, func(n *kube.Node) { n.Labels = n.Labels.With("karpenter.sh/initialized", "true") })
		k.set(c, "Initialized", "True", "", "")
		k.settle(c, true)
	}
}
