package testcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nodesim/nodesim/internal/testcluster/assets"
)

// stopGrace is how long a process may take to obey SIGTERM before it is killed.
const stopGrace = 20 * time.Second

// A process is one program that the cluster started itself; a goroutine of its own waits for it.
type process struct {
	name string
	cmd  *exec.Cmd
	pid  string        // file that the watchdog reads
	done chan struct{} // closed when the process was reaped
	err  error         // how it ended; to be read after done
}

// run starts one of the control plane's programs and hands it to the cluster, which stops it.
func (c *Cluster) run(name string, args []string, env ...string) (*process, error) {
	binary, err := assets.Find(name)
	if err != nil {
		return nil, err
	}
	log, err := c.openLog(name)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, pid: c.path("run", name+".pid"), done: make(chan struct{})}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.folder, log, log
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a ^C at the terminal is ours to pass on
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	c.mu.Lock()
	c.processes = append(c.processes, p)
	c.mu.Unlock()
	return p, writePID(p.pid, p.cmd.Process.Pid)
}

// writePID leaves a pid where the watchdog looks: a line, so that it can read several files at once.
func writePID(file string, pid int) error {
	return os.WriteFile(file, fmt.Appendf(nil, "%d\n", pid), 0o644)
}

// alive says what is wrong if the process has ended by itself.
func (p *process) alive() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended by itself: %w", p.name, errors.Join(errors.New("see its log"), p.err))
	default:
		return nil
	}
}

func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	patience := time.NewTimer(stopGrace)
	defer patience.Stop()
	var slow error
	select {
	case <-p.done:
	case <-patience.C:
		slow = fmt.Errorf("stop %s: still running after %s, killed", p.name, stopGrace)
		_ = p.cmd.Process.Kill() // fails only if it has just ended
		<-p.done
	}
	return errors.Join(slow, os.Remove(p.pid))
}

// leavePID writes a script that becomes the binary and leaves its pid for us: envtest doesn't tell.
func (c *Cluster) leavePID(name, binary string) (string, error) {
	script := c.path("bin", name)
	// --help is how envtest asks which flags there are; that process is not the server.
	text := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --help ] || echo $$ >%s\nexec %s \"$@\"\n",
		quote(c.path("run", name+".pid")), quote(binary))
	return script, os.WriteFile(script, []byte(text), 0o755)
}

func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// pid reads the pid that a script of leavePID left.
func (c *Cluster) pid(name string) (int, error) {
	text, err := os.ReadFile(c.path("run", name+".pid"))
	if err != nil {
		return 0, fmt.Errorf("find %s's process: %w", name, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
