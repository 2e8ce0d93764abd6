package fault_test

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/nodesim/nodesim/golden"
)

// Nothing that a test starts outlives it. client-go logs the errors that faults
// give rise to, and then waits until a millisecond after the last one in the
// whole process: which, in a bubble of the year 2000, is far away.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(golden.Wrap(m))
}
