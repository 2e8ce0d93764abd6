package clusters

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nodesim/nodesim/internal/localcluster/process"
)

// keeper keeps a cluster of no programs until it is told to end, as this program is in its place.
func keeper(t *testing.T, name string) (folder string) {
	t.Helper()
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	c := claimed(t, name)
	g, err := process.NewGroup(c.record.Folder)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer signal.Stop(told)
		select {
		case <-told:
		case <-t.Context().Done():
		}
		if err := errors.Join(g.Close(), c.unlock()); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { <-over })
	return c.record.Folder
}

// Down returns when the keeper has let go, whether the folder is kept or not; what is kept outlives the looks of others.
func TestDownOfAClusterThatIsKept(t *testing.T) {
	for keep, stays := range map[string]bool{"": false, "1": true} {
		t.Run("NODESIM_KEEP="+keep, func(t *testing.T) {
			t.Setenv("NODESIM_CACHE", t.TempDir())
			t.Setenv("NODESIM_KEEP", keep)
			folder := keeper(t, "demo")
			if err := Down(t.Context(), "demo"); err != nil {
				t.Fatal(err)
			}
			t.Setenv("NODESIM_KEEP", "")
			if got := names(t); got != "" {
				t.Errorf("found %q, want none", got)
			}
			_, err := os.Stat(filepath.Join(folder, "logs"))
			if is := !errors.Is(err, fs.ErrNotExist); is != stays {
				t.Errorf("the logs: found %v, want them there: %v", err, stays)
			}
		})
	}
}
