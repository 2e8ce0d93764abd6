//go:build controlplane

package recorder_test

import (
	"os"
	"testing"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		os.Exit(helpers[role]())
	}
	testcluster.Main(m, testcluster.Options{})
}
