//go:build controlplane

package clusterapi

import (
	"testing"

	"github.com/nodesim/nodesim/test/strangers/control"
	"github.com/nodesim/nodesim/test/strangers/place"
)

func TestOnAControlPlane(t *testing.T) {
	all := definitions(t)
	control.PlaneWith(t, 0, func(p *place.Place) { roll(p, all) })
}
