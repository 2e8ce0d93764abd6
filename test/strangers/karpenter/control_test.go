//go:build controlplane

package karpenter_test

import (
	"testing"

	"github.com/nodesim/nodesim/test/strangers/control"
)

func TestOnAControlPlane(t *testing.T) { control.Plane(t, provision) }
