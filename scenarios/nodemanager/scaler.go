package nodemanager

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/cloud"
)

// StatusUpdater saves the status of a node and returns the node as saved.
type StatusUpdater interface {
	UpdateStatus(*api.Node) (*api.Node, error)
}

// StandbyNodeSpec is a pool of nodes that are kept free for pods to come. Several pools may be alike; they add up.
type StandbyNodeSpec struct {
	InstanceType string `json:"instanceType"`
	Count        int    `json:"count"`
	Spot         bool   `json:"spot"`
}

// ScalingAlgorithm decides which nodes to start and which to stop, and which pod gets which node (by names). A nil map
// says that it couldn't. A Planner is preferred where there is one.
type ScalingAlgorithm interface {
	Compute(nodes []*api.Node, pods []*api.Pod) ([]*api.Node, []*api.Node, map[string]string)
}

// ScalerConfig is everything that a BindingNodeScaler decides by, besides nodes, pods and time. The zero value is a
// scaler without pools, which stops idle nodes at once.
type ScalerConfig struct {
	// Standby are the pools, filled in this order.
	Standby []StandbyNodeSpec
	// Unavailable says that asking the cloud makes no sense at a moment; cloud.Marks.Unavailable is one. The empty zone
	// is any zone. Nil: everything is available. It has to be a function of its arguments for the length of a plan.
	Unavailable func(instanceType string, spot, privateIPOnly bool, zone string, now time.Time) bool
	// DefaultVolumeSize is the volume of nodes whose pod doesn't say, and of all nodes unless FixedSizeVolume.
	DefaultVolumeSize string
	// FixedSizeVolume says that a volume can't grow after boot, so that it has to match the pod's.
	FixedSizeVolume bool
	// BootImage is written on new nodes.
	BootImage string
	// IdleGrace is how long a node that nobody needs is kept; it serves a pod at once that comes meanwhile. Zero or less:
	// it goes at once.
	IdleGrace time.Duration
	// Backoff is the pause of a standby pool after boots that failed.
	Backoff Backoff
	// Seed makes the names of new nodes: equal seeds and equal plans give equal names.
	Seed uint64
}

// DefaultIdleGrace is an IdleGrace for those who start and stop nodes in a cloud: longer than a common one takes to boot a
// node, so that a pod that comes just after another one left pays for no boot.
const DefaultIdleGrace = 2 * time.Minute

// BindingNodeScaler gives every waiting pod a node of its own, and keeps standby pools filled. Plan is the decision;
// Compute is the same in the older form. Methods may be called from any goroutine.
type BindingNodeScaler struct {
	config       ScalerConfig
	nodeRegistry StatusUpdater
	boots        *bootHistory
	computed     atomic.Uint64 // calls of Compute, which has no moment to make names of
}

var (
	_ ScalingAlgorithm = (*BindingNodeScaler)(nil)
	_ Planner          = (*BindingNodeScaler)(nil)
	_ BootObserver     = (*BindingNodeScaler)(nil)
)

// NewBindingNodeScaler returns a scaler with DefaultBackoff and BootImage. It has no IdleGrace: a node that nobody needs
// stops at the next plan, as a NodeController does with the result of Compute. Where pods come and go, NewScaler with
// DefaultIdleGrace saves boots. Compute saves bindings with nodeReg; Plan doesn't use it. Either of nodeReg and cloudStatus
// may be nil.
func NewBindingNodeScaler(
	nodeReg StatusUpdater, standbyNodes []StandbyNodeSpec, cloudStatus cloud.StatusKeeper,
	defaultVolumeSize string, fixedSizeVolume bool,
) *BindingNodeScaler {
	s := NewScaler(ScalerConfig{
		Standby: standbyNodes, Unavailable: unavailability(cloudStatus), DefaultVolumeSize: defaultVolumeSize,
		FixedSizeVolume: fixedSizeVolume, BootImage: BootImage, Backoff: DefaultBackoff(),
	})
	s.nodeRegistry = nodeReg
	return s
}

// NewScaler returns a scaler that saves nothing. What it can't work with is said by Plan.
func NewScaler(config ScalerConfig) *BindingNodeScaler {
	config.Standby = append([]StandbyNodeSpec(nil), config.Standby...)
	return &BindingNodeScaler{config: config, boots: newBootHistory(config.Backoff)}
}

// unavailability asks a keeper about the moment of the plan if it can tell, else about now.
func unavailability(keeper cloud.StatusKeeper) func(string, bool, bool, string, time.Time) bool {
	if keeper == nil {
		return nil
	}
	type dated interface {
		IsUnavailableZoneAt(instanceType string, spot, privateIPOnly bool, zone string, now time.Time) bool
	}
	at, ok := keeper.(dated)
	return func(instanceType string, spot, privateIPOnly bool, zone string, now time.Time) bool {
		if ok && !now.IsZero() {
			return at.IsUnavailableZoneAt(instanceType, spot, privateIPOnly, zone, now)
		}
		return keeper.IsUnavailableZone(instanceType, spot, privateIPOnly, zone)
	}
}

// maxStandby bounds a pool: a slip of a finger must not order millions of machines.
const maxStandby = 100_000

// validate names the first pool that can't be.
func (c *ScalerConfig) validate() error {
	for i, spec := range c.Standby {
		if spec.Count < 0 || spec.Count > maxStandby {
			return fmt.Errorf("standby pool %d (%s): count %d: want 0 to %d", i, spec.InstanceType, spec.Count, maxStandby)
		}
		if spec.Count > 0 && spec.InstanceType == "" {
			return fmt.Errorf("standby pool %d: no instance type: name one", i)
		}
	}
	return nil
}
