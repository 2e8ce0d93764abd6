//go:build controlplane

package conformance_test

import (
	"testing"

	"github.com/nodesim/nodesim/internal/testcluster"
	"github.com/nodesim/nodesim/internal/testcluster/staged"
)

func TestMain(m *testing.M) { testcluster.Main(m, staged.WholeOptions()) }
