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
	testcluster.Main(m, testcluster.Options{})
}
