//go:build controlplane

package conformance_test

import (
	"testing"

	"github.com/nodesim/nodesim/internal/testing/clusterstories"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, clusterstories.WholeOptions()) }
