//go:build controlplane

package media

import (
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func TestMain(m *testing.M) { testcluster.Main(m, testcluster.Options{}) }
