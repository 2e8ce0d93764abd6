package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// folderBucket is a bucket in a folder: a volume that a team shares.
type folderBucket struct{ root string }

// openFolder opens a folder. One that isn't there is an error, not an empty store: its name may be mistyped.
func openFolder(_ context.Context, u *url.URL) (Bucket, error) {
	root, err := folderOf(u)
	if err != nil {
		return nil, err
	}
	is, err := os.Stat(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root) // a walk doesn't follow one
	}
	switch {
	case missing(err):
		return nil, fmt.Errorf("found no folder %s: want a folder; nodesim record --daemon --store makes it", root)
	case err != nil:
		return nil, explain(err, "to read")
	case !is.IsDir():
		return nil, fmt.Errorf("found the file %s: want a folder", root)
	}
	return folderBucket{root}, nil
}

// makeFolder makes a folder that isn't there.
func makeFolder(u *url.URL) error {
	root, err := folderOf(u)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return fmt.Errorf("%w: want a folder that can be written", err)
	}
	return nil
}

func folderOf(u *url.URL) (string, error) {
	if u.Host != "" || !path.IsAbs(u.Path) {
		return "", fmt.Errorf("found the folder %q on the host %q, want three slashes and an absolute path, such as file:///var/lib/tapes", u.Path, u.Host)
	}
	name := u.Path
	if filepath.VolumeName(name[1:]) != "" {
		name = name[1:] // file:///C:/tapes on Windows
	}
	return filepath.FromSlash(name), nil
}

// place is the file of a key.
func (b folderBucket) place(key string) (string, error) {
	if !fs.ValidPath(key) || strings.Contains(key, `\`) {
		return "", fmt.Errorf("key %.200q: want names with slashes between them", key)
	}
	return filepath.Join(b.root, filepath.FromSlash(key)), nil
}

func (b folderBucket) List(ctx context.Context, prefix string, take func(string) error) error {
	deepest := ""
	if i := strings.LastIndex(prefix, "/"); i >= 0 {
		deepest = prefix[:i]
	}
	root := filepath.Join(b.root, filepath.FromSlash(deepest))
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil:
			err = ctx.Err()
		case name != root && errors.Is(err, fs.ErrPermission) && filepath.Dir(name) == filepath.Clean(b.root) && !isUID(filepath.Base(name)):
			return fs.SkipDir // nothing of a cluster: a volume has a folder lost+found, which root alone can read
		case name != root && missing(err):
			return fs.SkipDir // removed meanwhile
		}
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") { // being written
			return err
		}
		key, err := filepath.Rel(b.root, name)
		if err != nil {
			return err
		}
		if key = filepath.ToSlash(key); !strings.HasPrefix(key, prefix) {
			return nil
		}
		return take(key)
	})
	if missing(err) {
		return nil // nothing was kept there yet
	}
	return explain(err, "to read")
}

func (b folderBucket) Read(_ context.Context, key string) (io.ReadCloser, error) {
	name, err := b.place(key)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, explain(err, "to read")
	}
	return f, nil
}

func (b folderBucket) Write(ctx context.Context, key string, from io.Reader) error {
	return explain(b.write(ctx, key, from), "to write")
}

func (b folderBucket) write(ctx context.Context, key string, from io.Reader) error {
	name, err := b.place(key)
	if err != nil {
		return err
	}
	if _, err := os.Stat(b.root); err != nil {
		return err // a volume that isn't mounted any more: what is written below it would be hidden when it is again
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return atomicfile.Fill(name, 0o644, func(f *os.File) error {
		_, err := io.Copy(f, withContext{ctx, from})
		return err
	})
}

func (b folderBucket) Delete(_ context.Context, key string) error {
	name, err := b.place(key)
	if err != nil {
		return err
	}
	return explain(os.Remove(name), "to write")
}

func (folderBucket) Close() error { return nil }

// explain adds what is wanted to the error of a folder that has no room or refuses something. right is what that takes.
func explain(err error, right string) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: want room there: nodesim tapes prune removes old tapes", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: want a volume that is mounted for writing", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: want the right %s there: by chown or chmod, or by the fsGroup of a pod", err, right)
	}
	return err
}

// withContext ends a read when a context does.
type withContext struct {
	ctx  context.Context
	from io.Reader
}

func (r withContext) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
