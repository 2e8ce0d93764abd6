package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopGrace is the time a program may take to obey SIGTERM before it is killed.
const stopGrace = 20 * time.Second

// lastLines bounds how much of its log an error shows of a program that ended by itself.
const lastLines = 8

// A Process is one program that a Group started; a goroutine of its own waits for it.
type Process struct {
	// Name is the program's in this Group: that of its log and its pid file.
	Name string

	cmd     *exec.Cmd
	log     string // path
	began   int64  // where in the log this one begins
	pidFile string
	done    chan struct{} // closed when the process was reaped
	err     error         // how it ended; to be read after done
}

// enter leaves the pid of the program where the watchdog looks, before it becomes the program: whatever happens to
// this program meanwhile, no process runs unknown.
const enter = `echo $$ >"$0" && exec "$@"`

func start(g *Group, name, binary string, args, env []string, log *os.File) (*Process, error) {
	p := &Process{Name: name, log: log.Name(), pidFile: g.Path("run", name+".pid"), done: make(chan struct{})}
	if info, err := log.Stat(); err == nil {
		p.began = info.Size()
	}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", enter, p.pidFile, binary}, args...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = g.folder, log, log
	p.cmd.Env = append(os.Environ(), env...)
	apart(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = os.Remove(p.pidFile) // its number may be another process's by tomorrow
		close(p.done)
	}()
	return p, nil
}

// PID is the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Alive is an error with the last lines of the log if the process has ended by itself.
func (p *Process) Alive() error {
	select {
	case <-p.done:
		how := "with status 0"
		if p.err != nil {
			how = "with " + p.err.Error()
		}
		return fmt.Errorf("%s ended by itself, %s; its log ends with %s", p.Name, how, tail(p.log, p.began, lastLines))
	default:
		return nil
	}
}

// Stop ends the process by SIGTERM and waits until it is reaped. One that doesn't obey within 20 s is killed, and
// that is an error.
func (p *Process) Stop() error {
	p.Terminate()
	patience := time.NewTimer(stopGrace)
	defer patience.Stop()
	select {
	case <-p.done:
		return nil
	case <-patience.C:
		p.Kill()
		return fmt.Errorf("stop %s: still running after %s, killed", p.Name, stopGrace)
	}
}

// Terminate asks the process to end and doesn't wait for it.
func (p *Process) Terminate() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only where it has ended
}

// Kill ends the process at once and waits until it is reaped.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only where it has ended
	<-p.done
}

// Script writes a program that becomes the binary and leaves its pid for the watchdog and for PID, for those who have
// it started by another program.
func (g *Group) Script(name, binary string) (string, error) {
	folder := g.Path("bin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	script := filepath.Join(folder, name)
	// --help lets envtest ask which flags there are; that process is not the server.
	text := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --help ] || echo $$ >%s\nexec %s \"$@\"\n",
		quote(g.Path("run", name+".pid")), quote(binary))
	return script, os.WriteFile(script, []byte(text), 0o755)
}

func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// PID reads the pid that a Script has left.
func (g *Group) PID(name string) (int, error) {
	text, err := os.ReadFile(g.Path("run", name+".pid"))
	if err != nil {
		return 0, errors.Join(fmt.Errorf("find the process of %s", name), err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
