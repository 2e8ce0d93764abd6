//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// possible reports whether programs can be looked after here.
const possible = true

// apart puts a program into a process group of its own: a ctrl-c at the terminal is ours to pass on.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
