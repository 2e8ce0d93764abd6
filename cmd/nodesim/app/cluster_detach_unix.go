//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// background starts this program again, in a session of its own, and passes on
// what it says until it hides.
func background(cmd *cobra.Command) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"cluster", "up", "--kept"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "detach" {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
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
	defer context.AfterFunc(cmd.Context(), func() { _ = child.Process.Signal(syscall.SIGTERM) })()
	var said bytes.Buffer
	var copying sync.WaitGroup
	var failed error
	copying.Go(func() { _, failed = io.Copy(&said, out) })
	_, err = io.Copy(cmd.ErrOrStderr(), notes)
	copying.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if said.Len() > 0 {
		_, err := cmd.OutOrStdout().Write(said.Bytes())
		return errors.Join(err, child.Process.Release())
	}
	err = child.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{max(exit.ExitCode(), exitFailed), nil} // it has said why
	}
	return err
}

// hide detaches from this program's parent: its folder, and its streams,
// which end for those who read them.
func hide() error {
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
