package api

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing that a test starts outlives it, but for client-go's own end of a WebSocket that its caller has left.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("k8s.io/client-go/tools/remotecommand.(*heartbeat).start"),
		goleak.IgnoreAnyFunction("k8s.io/client-go/tools/remotecommand.(*stream).Read"),
		goleak.IgnoreAnyFunction("k8s.io/client-go/tools/remotecommand.(*wsStreamExecutor).StreamWithContext.func1"))
}
