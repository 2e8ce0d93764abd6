//go:build !controlplane

package live

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing that a live run starts outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
