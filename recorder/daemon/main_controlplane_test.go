//go:build controlplane

package daemon_test

import (
	"os"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		os.Exit(helper())
	}
	if os.Getenv(replicaEnv) != "" {
		os.Exit(replicaHelper())
	}
	testcluster.Main(m, testcluster.Options{})
}
