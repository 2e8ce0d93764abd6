package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/localcluster/process"
	"github.com/nodesim/nodesim/internal/phrase"
)

// longest is the most letters of a name.
const longest = 40

// CheckName says what is wrong with the name of a cluster.
func CheckName(name string) error {
	if len(name) > longest || len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("cluster %q: want a name of at most %d small letters, digits and hyphens between them", name, longest)
	}
	return nil
}

// look locks the registry, for a moment, and returns the records of the living. What the dead have left is removed.
func look(ctx context.Context) (root string, living []Record, unlock func() error, err error) {
	cache, err := assets.Cache()
	if err != nil {
		return "", nil, nil, err
	}
	root = filepath.Join(cache, "clusters")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", nil, nil, err
	}
	if unlock, err = atomicfile.Lock(ctx, filepath.Join(root, ".lock"), nil); err != nil {
		return "", nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unlock())
		}
	}()
	locks, err := fs.Glob(os.DirFS(root), "*.*/lock") // not with root in it: what a user has called it is no pattern
	if err != nil {
		return "", nil, nil, err
	}
	for _, name := range locks {
		lock := filepath.Join(root, filepath.FromSlash(name))
		folder := filepath.Dir(lock)
		release, err := atomicfile.TryLockThere(lock)
		switch {
		case errors.Is(err, atomicfile.ErrLocked):
			r, err := readRecord(folder)
			if errors.Is(err, os.ErrNotExist) {
				continue // it is being removed
			}
			if err != nil {
				return "", nil, nil, fmt.Errorf("cluster in %s: %w", folder, err)
			}
			living = append(living, r)
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return "", nil, nil, err
		case err == nil:
			if err := errors.Join(process.Sweep(folder), release()); err != nil {
				return "", nil, nil, fmt.Errorf("remove what is left in %s: %w", folder, err)
			}
		}
	}
	slices.SortFunc(living, func(a, b Record) int { return cmp.Compare(a.Name, b.Name) })
	return root, living, unlock, nil
}

// List returns the clusters that start or run, by name.
func List(ctx context.Context) ([]Record, error) {
	_, living, unlock, err := look(ctx)
	if err != nil {
		return nil, err
	}
	return living, unlock()
}

// Find returns the cluster of a name, or an error that says which there are.
func Find(ctx context.Context, name string) (Record, error) {
	if err := CheckName(name); err != nil {
		return Record{}, err
	}
	living, err := List(ctx)
	if err != nil {
		return Record{}, err
	}
	var names []string
	for _, r := range living {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	if note, err := os.ReadFile(noteOf(name)); err == nil {
		return Record{}, fmt.Errorf("cluster %q: %s", name, strings.TrimSpace(string(note)))
	}
	if len(names) == 0 {
		return Record{}, fmt.Errorf("cluster %q: found none at all: want one that nodesim cluster up has started", name)
	}
	if near := phrase.Closest(name, names); near != "" {
		return Record{}, fmt.Errorf("cluster %q: found none of that name: did you mean %s?", name, near)
	}
	return Record{}, fmt.Errorf("cluster %q: found none of that name: want %s", name, strings.Join(names, ", "))
}

// Down ends the cluster of a name, whichever process keeps it, and returns when nothing of it is left but, with
// NODESIM_KEEP, its
// folder.
func Down(ctx context.Context, name string) error {
	r, err := Find(ctx, name)
	if err != nil {
		return errors.Join(err, forget(name))
	}
	keeper, err := os.FindProcess(r.Keeper)
	if err == nil {
		err = keeper.Signal(syscall.SIGTERM)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cluster %q: end process %d, which keeps it: %w", name, r.Keeper, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		switch over, err := ended(r.Folder); {
		case err != nil:
			return fmt.Errorf("cluster %q: %w", name, err)
		case over:
			return forget(name)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster %q: %w before process %d, which keeps it, has ended: kill -9 it, and the rest goes too", name, context.Cause(ctx), r.Keeper)
		case <-tick.C:
		}
	}
}

// ended reports whether no process keeps the cluster of a folder any more. What the dead have left is removed.
func ended(folder string) (bool, error) {
	release, err := atomicfile.TryLockThere(filepath.Join(folder, "lock"))
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return false, nil
	case errors.Is(err, os.ErrNotExist):
		_, err = os.Stat(folder) // its files go one by one
		return errors.Is(err, os.ErrNotExist), nil
	case err != nil:
		return false, err
	}
	return true, errors.Join(process.Sweep(folder), release())
}

// noteOf is a file that says how a cluster ended, for an end that was reported to no caller.
func noteOf(name string) string {
	cache, err := assets.Cache()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "clusters", name+"-ended")
}

// forget removes the note.
func forget(name string) error {
	if err := os.Remove(noteOf(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
