package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// EndSignals returns the signals that end the program. A terminal that is closed sends SIGHUP,
// which nohup keeps away.
func EndSignals() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return ends
}
