package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// piece is a file of the history.
type piece struct {
	path       string
	epoch, seq int
	start      time.Time // of its 0s; zero where it can't be read
	state      int64     // its size soon after it began, 0 before that is known
}

const (
	ending     = ".yaml.zst"
	historyDir = "history"
	tapesDir   = "tapes"
)

func pieceName(epoch, seq int) string { return fmt.Sprintf("%06d-%06d%s", epoch, seq, ending) }

// pieces of a folder, in their order.
func pieces(dir string) ([]piece, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []piece
	for _, e := range entries {
		p := piece{path: filepath.Join(dir, e.Name())}
		if n, err := fmt.Sscanf(e.Name(), "%d-%d"+ending, &p.epoch, &p.seq); n != 2 || err != nil || e.Name() != pieceName(p.epoch, p.seq) {
			continue // not ours
		}
		if r, err := timeline.Open(p.path); err == nil {
			p.start = r.Header().Metadata.Start.Time
			if err := r.Close(); err != nil {
				return nil, err
			}
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.seq, b.seq))
	})
	return all, nil
}

// sizeOf is the size of a folder's files in bytes, as far as they can be seen.
func sizeOf(files ...string) (n int64) {
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
	}
	return n
}

// continued reports whether a piece ends where the next one begins. Only what is before that END is
// on the disk for sure. A piece that can't be read says nothing: that is an error.
func continued(path string) (bool, error) {
	r, err := timeline.Open(path, timeline.Lines())
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }() // it was only read
	last := timeline.Event{}
	for ev, err := range r.All() {
		if err != nil {
			return false, err
		}
		last = ev
	}
	return last.Type == timeline.End && last.Reason == recorder.EndContinued, nil
}

// began reports whether a piece holds the state that it begins with, or a part of it from which its recording continues after a GAP.
func began(path string) bool {
	r, err := timeline.Open(path, timeline.Lines())
	if err != nil {
		return unreachable(err) // which says nothing about what it holds
	}
	defer func() { _ = r.Close() }() // it was only read
	for ev, err := range r.All() {
		if err != nil || ev.At > 0 || ev.Type == timeline.Sync || ev.Type == timeline.Gap {
			return true
		}
	}
	return false
}

// empty reports whether a file ends within its header: the daemon was killed when it made it.
func empty(path string) bool {
	_, err := timeline.Open(path)
	return errors.Is(err, timeline.ErrTornHeader)
}

// join hands out what the pieces of an epoch hold as one recording, with the wall time of each event: without
// the states that the later ones begin with, and without the ENDs. It returns where the last piece that could be read ends. What
// a dying recorder leaves at the end of the last piece is no error.
func join(all []piece, take func(when time.Time, ev timeline.Event) error) error {
	type key struct{ resource, namespace, name string }
	alive, gap := map[key]string{}, map[string]bool{}
	for i, p := range all {
		r, err := timeline.Open(p.path)
		if err != nil {
			return err
		}
		start, state := r.Header().Metadata.Start.Time, i > 0
		for {
			ev, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return errors.Join(err, r.Close())
			}
			id := key{ev.Resource, ev.Namespace, ev.Name}
			if state = state && ev.At == 0; state {
				switch {
				case ev.Type == timeline.Added && alive[id] == ev.RV:
					continue
				case ev.Type == timeline.Sync, ev.Type == timeline.Gap && gap[ev.Resource]: // as the former piece had them
					continue
				}
				state = false
			}
			switch ev.Type {
			case timeline.End:
				continue
			case timeline.Deleted:
				delete(alive, id)
			case timeline.Sync:
				gap[ev.Resource] = false
			case timeline.Gap:
				gap[ev.Resource] = true
			default:
				if ev.Type.Object() {
					alive[id] = strings.Clone(ev.RV)
				}
			}
			if err := take(start.Add(ev.At), ev); err != nil {
				return errors.Join(err, r.Close())
			}
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}
