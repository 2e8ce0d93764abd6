//go:build controlplane

package replacer

import (
	"testing"

	"github.com/nodesim/nodesim/test/strangers/control"
)

func TestOnAControlPlane(t *testing.T) { control.Plane(t, replace) }
