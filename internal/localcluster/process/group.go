package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Group is some programs with one folder and one end. Its methods may be called at the same time, but nothing runs
// in it after Close.
type Group struct {
	folder  string
	dog     *watchdog
	ranLong time.Duration // see ranLong

	mu        sync.Mutex
	processes []*Process // in the order of their starts
	logs      []*os.File
	copies    []file
}

// A file outside of the folder goes away with the Group, while it is still the copy of one inside that it was made as.
type file struct{ copy, original string }

// Possible returns an error unless this system can have a Group.
func Possible() error {
	if !possible {
		return errors.New("programs that end with this one: found no Unix: want Linux or macOS")
	}
	return nil
}

// NewGroup takes charge of a folder, which must be there, and of no other: Close removes it, unless it is kept.
func NewGroup(folder string) (*Group, error) {
	if err := Possible(); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(folder) // the programs run in it, the watchdog somewhere else
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"run", "logs"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if err := markKept(folder); err != nil {
		return nil, err
	}
	g := &Group{folder: folder, ranLong: ranLong}
	if g.dog, err = startWatchdog(folder); err != nil {
		return nil, err
	}
	return g, nil
}

// Path is a path in the folder.
func (g *Group) Path(elements ...string) string {
	return filepath.Join(append([]string{g.folder}, elements...)...)
}

// Run starts a program in the folder; what it prints goes to its log. The environment is this program's, and env.
func (g *Group) Run(name, binary string, args []string, env ...string) (*Process, error) {
	log, err := g.OpenLog(name)
	if err != nil {
		return nil, err
	}
	p, err := start(g, name, binary, args, env, log)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.processes = append(g.processes, p)
	g.mu.Unlock()
	return p, nil
}

// ranLong is the time after which a program that ends by itself is started again: one that ends sooner would again.
const ranLong = 5 * time.Second

// RunAgain starts a program as Run does, and again where it has ended by itself after more than 5 s, as a kubelet does
// with a static pod: kube-scheduler ends itself when its cache is at odds with the server, as after a crash of
// kube-apiserver (k8s.io/kubernetes, pkg/scheduler/backend/cache/cache.go, UpdatePod).
func (g *Group) RunAgain(name, binary string, args []string, env ...string) error {
	p, err := g.Run(name, binary, args, env...)
	if err != nil {
		return err
	}
	go func() {
		for again := true; again; {
			began := time.Now()
			<-p.Done()
			if time.Since(began) < g.ranLong {
				return
			}
			p, again = g.replace(p, binary, args, env)
		}
	}()
	return nil
}

// replace starts a program again that has ended and that nobody stopped. It reports whether it did.
func (g *Group) replace(ended *Process, binary string, args, env []string) (*Process, bool) {
	if !slices.Contains(g.Processes(), ended) {
		return nil, false
	}
	log, err := g.OpenLog(ended.Name)
	if err != nil {
		return nil, false // Alive says that it has ended
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.processes, ended)
	if at < 0 {
		return nil, false
	}
	p, err := start(g, ended.Name, binary, args, env, log)
	if err != nil {
		return nil, false
	}
	g.processes[at] = p
	return p, true
}

// Processes are those that were started and not stopped, in the order of their starts.
func (g *Group) Processes() []*Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*Process(nil), g.processes...)
}

// Stop ends all programs, the last one first, and waits for them. The folder stays.
func (g *Group) Stop() error {
	g.mu.Lock()
	running := g.processes
	g.processes = nil
	g.mu.Unlock()
	var all []error
	for i := len(running) - 1; i >= 0; i-- {
		all = append(all, running[i].Stop())
	}
	return errors.Join(all...)
}

// CopyOut makes a copy of a file of the folder outside of it, for its owner's eyes only, which goes away with the
// Group unless it was changed by then. A file that is there already is an error that errors.Is fs.ErrExist.
func (g *Group) CopyOut(original, copy string) error {
	if strings.ContainsAny(original+copy, "\n") {
		return fmt.Errorf("write %q: found a line break in the name: want none", copy)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(copy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.copies = append(g.copies, file{copy, original})
	_, err = out.Write(text)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(copy))
	}
	return g.dog.copies(g.copies)
}

// Close stops what still runs, sends the watchdog home and removes the folder. It may be called more than once.
func (g *Group) Close() error {
	all := []error{g.Stop()}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, log := range g.logs {
		all = append(all, log.Close())
	}
	for _, f := range g.copies {
		all = append(all, f.remove())
	}
	g.logs, g.copies = nil, nil
	if g.dog != nil {
		if !kept(g.folder) {
			all = append(all, os.RemoveAll(g.folder))
		}
		all = append(all, g.dog.stop()) // after the folder: if this program is killed meanwhile, the dog continues
		g.dog = nil
	}
	return errors.Join(all...)
}

// remove takes a copy away that is still what it was, and is content where one of both is gone: the watchdog may have
// been here.
func (f file) remove() error {
	theirs, err := os.ReadFile(f.copy)
	ours, err2 := os.ReadFile(f.original)
	err = errors.Join(err, err2)
	if err == nil && string(theirs) == string(ours) {
		err = os.Remove(f.copy)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Forget takes a process that has ended out of the Group: another of its name is to be started.
func (g *Group) Forget(p *Process) {
	<-p.done
	g.mu.Lock()
	defer g.mu.Unlock()
	g.processes = slices.DeleteFunc(g.processes, func(q *Process) bool { return q == p })
}
