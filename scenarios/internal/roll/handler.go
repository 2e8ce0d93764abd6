package roll

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
)

// HandlerKind says who answers notices of spot interruptions.
type HandlerKind string

// The handlers. Each of karpenter's groups is answered by karpenter alone.
const (
	// NoHandler ignores notices: the machine is taken, and its pods with it.
	NoHandler HandlerKind = "none"
	// NodeTerminationHandler is aws-node-termination-handler (handler_nth.go).
	NodeTerminationHandler HandlerKind = "nth"
	// ManagedNodeGroup is EKS itself, for its managed node groups (handler_mng.go).
	ManagedNodeGroup HandlerKind = "mng"
	// KarpenterQueue is Karpenter with an interruption queue (karpenter_interrupt.go).
	KarpenterQueue HandlerKind = "karpenter"
)

// HandlerConfig configures a handler.
type HandlerConfig struct {
	// Groups whose notices it answers; nil is all.
	Groups []*cloud.Group
	// Karpenter is needed for KarpenterQueue.
	Karpenter *Karpenter
	// NTH are the settings of aws-node-termination-handler.
	NTH NTHConfig
}

func (c *HandlerConfig) covers(g *cloud.Group) bool {
	for _, own := range c.Groups {
		if own == g {
			return true
		}
	}
	return c.Groups == nil
}

// NewInterruptionHandler starts a handler of notices. It fails where the kind is
// unknown, or Karpenter is missing.
func NewInterruptionHandler(env *component.Env, kind HandlerKind, cfg HandlerConfig) error {
	switch kind {
	case NoHandler, "":
	case NodeTerminationHandler:
		newNTH(env, cfg)
	case ManagedNodeGroup:
		newMNG(env, cfg)
	case KarpenterQueue:
		if cfg.Karpenter == nil {
			return fmt.Errorf("interruption handler %q: no Karpenter runs in the cluster: want the provider karpenter", kind)
		}
		cfg.Karpenter.cfg.Interruptions = true
	default:
		return fmt.Errorf("interruption handler %q: want none, nth, mng or karpenter", kind)
	}
	return nil
}
