package cloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// StartNodeResult is what a cloud says of an instance that it has started.
type StartNodeResult struct {
	InstanceID       string // never empty
	AvailabilityZone string // where the cloud put it
}

// CloudClient is the part of a cloud that node management needs. Calls come from many goroutines at once, and obey
// their context.
type CloudClient interface {
	// StartNode orders an instance for a node on demand. metadata is the user data that the instance boots with. A call
	// that ends in an error, or because its context did, leaves no instance running.
	StartNode(ctx context.Context, node *api.Node, metadata string) (*StartNodeResult, error)
	// StartSpotNode is StartNode on the spot market.
	StartSpotNode(ctx context.Context, node *api.Node, metadata string) (*StartNodeResult, error)
	// StopInstance ends an instance for good. To stop one that is gone already is no error.
	StopInstance(ctx context.Context, instanceID string) error
	// WaitForRunning waits until the cloud calls the instance running, and returns its addresses.
	WaitForRunning(ctx context.Context, node *api.Node) ([]api.NetworkAddress, error)
	// GetImageID finds the newest image that fits.
	GetImageID(ctx context.Context, spec BootImageSpec) (string, error)
}

// BootImageSpec describes the image that nodes boot from, in properties that the cloud knows, such as owner and name.
type BootImageSpec map[string]string

// String lists the properties by name. Equal descriptions give equal strings, and no others do.
func (s BootImageSpec) String() string {
	parts := make([]string, 0, len(s))
	for key, value := range s {
		parts = append(parts, fmt.Sprintf("%q=%q", key, value))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
