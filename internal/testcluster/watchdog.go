package testcluster

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// A watchdog is a shell that waits for its standard input to end, which happens when the test process dies, however
// it dies; then it kills what the pid files name and removes the folder, unless NODESIM_KEEP is set. `go test` kills a test that exceeds its
// timeout, and no deferred function runs then.
type watchdog struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

const watch = `read -r word && [ "$word" = done ] && exit 0
pids=$(cat "$0"/run/*.pid 2>/dev/null)
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
[ -n "$NODESIM_KEEP" ] || rm -rf "$0"`

func startWatchdog(folder string) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", watch, folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, pipe: pipe}, nil
}

// stop sends the watchdog home: everything was stopped in good order.
func (w *watchdog) stop() error {
	_, err := io.WriteString(w.pipe, "done\n")
	return errors.Join(err, w.pipe.Close(), w.cmd.Wait())
}
