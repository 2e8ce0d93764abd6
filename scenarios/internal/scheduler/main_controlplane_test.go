//go:build controlplane

package scheduler_test

import (
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// Nodes of these tests have no kubelet: none is to count as silent.
func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Options{NodeGrace: time.Hour}) }
