//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package detach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start starts this program again with the arguments, in a session of its own, and passes on what it says until it hides or
// ends. The error is an [exec.ExitError] where it ended without a word on its standard output. When ctx ends first, the
// program is asked to end.
func Start(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, args...)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	notes, err := child.StderrPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = child.Process.Signal(syscall.SIGTERM) })()
	var said bytes.Buffer
	var copying sync.WaitGroup
	var failed error
	copying.Go(func() { _, failed = io.Copy(&said, out) })
	_, err = io.Copy(stderr, notes)
	copying.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if said.Len() > 0 {
		_, err := stdout.Write(said.Bytes())
		return errors.Join(err, child.Process.Release())
	}
	return child.Wait()
}

// Hide leaves the folder of this program's start, and its streams, which end for those that read them.
func Hide() error {
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup2(int(nowhere.Fd()), fd); err != nil {
			return err
		}
	}
	return errors.Join(nowhere.Close(), os.Chdir("/"))
}
