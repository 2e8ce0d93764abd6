//go:build controlplane

package plan_test

import (
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Options{}) }
