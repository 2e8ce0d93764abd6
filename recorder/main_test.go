//go:build !controlplane

package recorder_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		os.Exit(helpers[role]())
	}
	goleak.VerifyTestMain(m)
}
