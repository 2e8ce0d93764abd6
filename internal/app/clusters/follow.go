package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/phrase"
)

// CheckComponent says what is wrong with the name of a component.
func CheckComponent(name string) error {
	all := localcluster.Components()
	if slices.Contains(all, name) {
		return nil
	}
	if near := phrase.Closest(name, all); near != "" {
		return fmt.Errorf("component %q: did you mean %s?", name, near)
	}
	return fmt.Errorf("component %q: want %s", name, strings.Join(all, ", "))
}

// CopyLog writes what a component has logged so far; with follow also what it still logs, until the context or the
// cluster ends, which are no errors.
func (r Record) CopyLog(ctx context.Context, w io.Writer, component string, follow bool) error {
	if err := CheckComponent(component); err != nil {
		return err
	}
	path := localcluster.LogIn(r.Folder, component)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cluster %q: %s has logged nothing yet", r.Name, component)
	}
	if err != nil {
		return fmt.Errorf("cluster %q: %w", r.Name, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		_, gone := os.Stat(path) // before the copy: nothing is written after the end
		if _, err := io.Copy(w, file); err != nil {
			return err
		}
		if !follow || gone != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}
