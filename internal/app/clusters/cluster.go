package clusters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/localcluster/process"
)

// Options are those of a cluster.
type Options struct {
	// ControlPlane holds what it is like; its Folder is chosen by Up.
	ControlPlane localcluster.Options

	// Kubeconfig is a file to write the kubeconfig to as well; "" is none. It must not be there.
	Kubeconfig string
}

// A Cluster is one that this program keeps.
type Cluster struct {
	*localcluster.ControlPlane
	record Record
	unlock func() error
}

// Record returns what everybody may know of it.
func (c *Cluster) Record() Record { return c.record }

// Up starts a cluster under ControlPlane.Name and returns when it is ready. The caller must call Down. A name that is
// taken is an error, and so is a start that fails; neither leaves anything behind.
func Up(ctx context.Context, o Options) (_ *Cluster, err error) {
	if err := CheckName(o.ControlPlane.Name); err != nil {
		return nil, err
	}
	if err := o.checkKubeconfig(ctx); err != nil {
		return nil, err
	}
	c, err := claim(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, process.Sweep(c.record.Folder), c.unlock()) // logs that are kept stay
		}
	}()
	o.ControlPlane.Folder = c.record.Folder
	if c.ControlPlane, err = localcluster.Start(ctx, o.ControlPlane); err != nil {
		return nil, err
	}
	c.record.State, c.record.Server, c.record.Kubeconfig = Running, c.URL(), c.KubeconfigPath()
	c.record.AuditLog, c.record.Processes = c.AuditLog(), c.PIDs()
	if o.Kubeconfig != "" {
		err = c.CopyKubeconfig(o.Kubeconfig)
	}
	if err == nil {
		err = c.record.write()
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// claim takes the name: a folder with a record and a lock that this program holds.
func claim(ctx context.Context, o Options) (_ *Cluster, err error) {
	name := o.ControlPlane.Name
	root, living, unlock, err := look(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for _, r := range living {
		if r.Name == name {
			return nil, fmt.Errorf("cluster %q: is there already, kept by process %d: want another --name, or nodesim cluster down --name %s first", name, r.Keeper, name)
		}
	}
	folder, err := os.MkdirTemp(root, name+".*") // a name has no dots
	if err != nil {
		return nil, err
	}
	c := &Cluster{record: Record{
		Name: name, State: Starting, Started: time.Now().Truncate(time.Second), Keeper: os.Getpid(), Folder: folder,
		Speed: max(o.ControlPlane.Speed, 0), AuditLog: o.ControlPlane.AuditLog,
	}}
	if c.record.Speed == 0 {
		c.record.Speed = 1
	}
	if c.unlock, err = atomicfile.TryLock(filepath.Join(folder, "lock")); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err = errors.Join(c.record.write(), forget(name)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder), c.unlock())
	}
	return c, nil
}

// Down ends the cluster; nothing of it is left but a folder that is kept.
func (c *Cluster) Down() error { return errors.Join(c.Stop(), c.unlock()) }

// Note records how the cluster ended, for a later reader, where no caller can be told. The next cluster of
// the name takes it away.
func (c *Cluster) Note(err error) error {
	text := fmt.Sprintf("it has ended, at %s: %v\n", time.Now().Format(time.DateTime), err)
	return os.WriteFile(noteOf(c.record.Name), []byte(text), 0o600)
}

// checkKubeconfig refuses a file that is there before anything is started.
func (o Options) checkKubeconfig(ctx context.Context) error {
	if o.Kubeconfig == "" {
		return nil
	}
	path, err := filepath.Abs(o.Kubeconfig)
	if err != nil {
		return err
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return fmt.Errorf("kubeconfig %s: found no folder %s: want one that is there", path, filepath.Dir(path))
	}
	found, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	living, err2 := List(ctx)
	if err2 != nil {
		return err2
	}
	for _, r := range living {
		if ours, err := os.ReadFile(r.Kubeconfig); err == nil && string(ours) == string(found) {
			return fmt.Errorf("kubeconfig %s: is that of cluster %q, which runs: want another file, or the end of that one", path, r.Name)
		}
	}
	return fmt.Errorf("kubeconfig %s: is there already: want a file that isn't; remove it if its cluster is gone, or choose another", path)
}
