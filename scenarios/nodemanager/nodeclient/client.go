// Package nodeclient says how one talks to the agents on nodes. It holds interfaces alone: what runs a
// NodeController brings the clients.
//
// Its API may still change (docs/stability.md).
package nodeclient

import (
	"context"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// ItzoClient talks to the agent of one node. It may be used from any goroutine, and obeys its contexts; a timeout of its
// own for a health check has to be shorter than the interval of heartbeats.
type ItzoClient interface {
	// Healthcheck returns nil when the agent answers and is well.
	Healthcheck(ctx context.Context) error
	// GetFile returns at most the last limit bytes of a file on the node.
	GetFile(ctx context.Context, path string, limit int) ([]byte, error)
}

// ItzoClientFactoryer hands out clients by the addresses of their nodes. It may be used from any goroutine.
type ItzoClientFactoryer interface {
	// GetClient returns the client for a node with these addresses, the same one as before if it still has it.
	GetClient(addresses []api.NetworkAddress) ItzoClient
	// DeleteClient drops it; the node is on its way out.
	DeleteClient(addresses []api.NetworkAddress)
}
