package fault_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/nodesim/nodesim/golden"
)

// Nothing that a test starts outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(golden.Wrap(m)) }
