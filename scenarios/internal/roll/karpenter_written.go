package roll

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// StandBack says whether a Karpenter of somebody else's leads: pods without a place are that one's then, and there is
// one that launches machines for them. NodeClaims of ours we keep, as a Karpenter keeps those of the node classes that
// its provider knows (pkg/utils/nodeclaim/nodeclaim.go, IsManaged).
func (k *Karpenter) StandBack(is bool) {
	k.back = is
	k.batch()
}

// classes is the API group of our NodeClaims' node class.
const classes = "karpenter.k8s.aws"

// Written tells of a NodeClaim that somebody else has created or changed, or that was there before: a new one of a
// NodePool of Karpenter's is launched, one that is to go goes with its node and its machine.
func (k *Karpenter) Written(o *kube.Custom) {
	c := k.named[o.Name]
	switch {
	case o.Gone():
	case c == nil:
		k.meet(o)
	case o.Terminating():
		k.soon(func() { k.finalize(c) })
	}
}

// Removed tells of a NodeClaim that somebody has removed whatever held it: its machine is garbage
// (nodeclaim/garbagecollection/controller.go).
func (k *Karpenter) Removed(name string) {
	c := k.named[name]
	if c == nil {
		return
	}
	delete(k.named, name)
	if i := c.instance; i != nil {
		delete(k.claims, i.ID)
		k.soon(func() { k.env.Cloud.Terminate(i, false) })
	}
}

// meet begins to keep a NodeClaim that Karpenter hasn't created.
func (k *Karpenter) meet(o *kube.Custom) {
	var g *cloud.Group
	for _, own := range k.cfg.Groups {
		if own.Name == o.Labels.Get("karpenter.sh/nodepool") {
			g = own
		}
	}
	class := rawjson.Text([]byte(o.Spec), "nodeClassRef", "group")
	if g == nil || class != "" && class != classes {
		return // of no NodePool of ours, or of another provider's
	}
	c := &claim{object: o, group: g, template: g.Template}
	k.named[o.Name] = c
	if i := k.env.Cloud.ByNode(nameIn(o, "nodeName")); i != nil && k.claims[i.ID] == nil {
		k.claims[i.ID], c.instance = c, i
		c.registered, c.initialized = o.Conditions.Is("Registered", "True"), o.Conditions.Is("Initialized", "True")
		switch n := k.env.API.Node(i.Name); {
		case n != nil && n.Terminating():
			k.soon(func() { k.terminate(n) })
		case o.Terminating():
			k.soon(func() { k.finalize(c) })
		case !c.initialized:
			k.joinSoon(c)
		}
		return
	}
	if o.Terminating() {
		k.soon(func() { k.release(c) })
		return
	}
	k.soon(func() {
		now := k.env.API.Now().Second()
		k.env.API.UpdateCustom(o, func(o *kube.Custom) {
			o.SetFinalizer(terminationFinalizer, true)
			for _, kind := range [...]string{"Launched", "Registered", "Initialized"} {
				o.Conditions = o.Conditions.Set(kube.Condition{
					Type: kind, Status: "Unknown", Reason: "AwaitingReconciliation", Message: "object is awaiting reconciliation", Transition: now, Observed: o.Generation,
				})
			}
			k.root(o, now)
		})
		k.env.After(k.env.Draw(&k.chance, createFleet), func() { k.create(c, "") })
	})
}

// nameIn is a text in the status of an object, "" where there is none.
func nameIn(o *kube.Custom, path ...string) string {
	for _, f := range o.Status {
		if f.Name != path[0] {
			continue
		}
		if len(path) > 1 {
			return rawjson.Text([]byte(f.JSON), path[1:]...)
		}
		text, _ := rawjson.Unquote([]byte(f.JSON))
		return text
	}
	return ""
}
