package formats

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// sharkRecord is one answer of an API server in an archive of k8shark
// (internal/archive/format/format.go of phenixblue/k8shark): to a list that it asks for again and
// again, or, with an event type, an event of a watch.
type sharkRecord struct {
	CapturedAt   time.Time       `json:"captured_at"`
	APIPath      string          `json:"api_path"`
	EventType    string          `json:"event_type"`
	ResponseCode int             `json:"response_code"`
	ResponseBody json.RawMessage `json:"response_body"`
}

// shark collects the records of an archive: k8shark-capture/records/HASH/NUMBER.json.zst in a zip, or, of
// its first version, k8shark-capture/records/ID.json in a tar.
type shark struct {
	records []sharkRecord
	bytes   int64
}

// sharkVersion is the newest version of the format that is read (CurrentFormatVersion).
const sharkVersion = 2

func newShark() *shark { return &shark{} }

func (s *shark) wants(name string) bool {
	return strings.Contains("/"+name, "/k8shark-capture/records/") || path.Base(name) == "metadata.json" && strings.Contains("/"+name, "/k8shark-capture/")
}

func (s *shark) file(name string, r io.Reader) error {
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFile))
		if err != nil {
			return err
		}
		defer z.Close()
		r = z
	}
	raw, err := readAll(r, name, maxFile)
	if err != nil {
		return err
	}
	if path.Base(name) == "metadata.json" {
		var m struct {
			Version int `json:"format_version"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Version < 0 || m.Version > sharkVersion {
			return fmt.Errorf("found format_version %d of k8shark, want at most %d", m.Version, sharkVersion)
		}
		return nil
	}
	return s.record(raw)
}

func (s *shark) record(raw []byte) error {
	var r sharkRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	plural := path.Base(r.APIPath)
	if !kept[plural] || r.ResponseCode != 0 && r.ResponseCode != http.StatusOK || !bytes.HasPrefix(r.ResponseBody, []byte("{")) {
		return nil // Tables, which have ?as=Table, discovery, logs, and what was forbidden
	}
	if s.bytes += int64(len(raw)); s.bytes > maxState {
		return tooLong("archive", maxState)
	}
	if r.CapturedAt.IsZero() {
		return fmt.Errorf("record of %.80q: found no captured_at, want a time", r.APIPath)
	}
	s.records = append(s.records, r)
	return nil
}

// sharkLines reads what k8shark writes to standard output: a record per line.
func sharkLines(ctx context.Context, in io.Reader, w *writer) error {
	s := newShark()
	d := json.NewDecoder(in)
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		switch {
		case errors.Is(err, io.EOF):
			return s.write(w)
		case errors.Is(err, io.ErrUnexpectedEOF):
			w.dump.Torn = 1
			return s.write(w)
		case err != nil:
			return fmt.Errorf("byte %d: %w", d.InputOffset(), err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if err := s.record(raw); err != nil {
			return err
		}
	}
}

// sharkList is the state of a resource, from the last list of each path: of each namespace, or of
// all.
type sharkList struct {
	kind, apiVersion string
	paths            map[string]map[string][]byte // path → namespace/name → object
	version          string
	changed          bool // since it was written
	watched          bool
}

// write puts the records in order. What a list shows to be different from the one before happened at
// some time in between, so it becomes a list in the middle of the dump, which an import takes for a GAP.
func (s *shark) write(w *writer) error {
	if len(s.records) == 0 {
		return errors.New("archive of k8shark: found no record of nodes, pods, events or budgets, want one")
	}
	slices.SortStableFunc(s.records, func(a, b sharkRecord) int { return a.CapturedAt.Compare(b.CapturedAt) })
	lists := map[string]*sharkList{}
	first, again := map[string]bool{}, map[string]bool{} // paths, and resources whose second round has begun
	start := s.records[0].CapturedAt
	for i := range s.records { // the first list of each path is what was there
		r := &s.records[i]
		if r.EventType != "" {
			continue
		}
		key := resourceOf(r.APIPath)
		if first[r.APIPath] {
			again[key] = true
			continue
		}
		if first[r.APIPath] = true; again[key] { // a namespace that had none before: it has no list then
			continue
		}
		l, err := listOf(lists, r)
		if err != nil {
			return err
		}
		if err := l.read(r); err != nil {
			return err
		}
		r.ResponseBody = nil
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		lists[key].write(w, start)
	}
	polls := 0
	ends := s.rounds()
	for i := range s.records {
		r := &s.records[i]
		if r.ResponseBody == nil {
			continue
		}
		l, err := listOf(lists, r)
		if err != nil {
			return err
		}
		if r.EventType != "" {
			if err := l.event(w, r); err != nil {
				return err
			}
			continue
		}
		if err := l.read(r); err != nil {
			return err
		}
		if !l.watched && l.changed && ends[i] {
			polls++
			l.write(w, r.CapturedAt)
		}
	}
	if polls > 0 {
		w.leave("what happened between two of %d lists: k8shark asked for them again and again, and had no watch", polls)
	}
	return nil
}

// rounds tells of each list that isn't a path's first whether it is the last of its round: k8shark asks for the lists of all
// namespaces one after the other, and all that a round shows is one list of the dump.
func (s *shark) rounds() []bool {
	type round struct {
		last int
		has  map[string]bool
	}
	ends, by := make([]bool, len(s.records)), map[string]*round{}
	for i, r := range s.records {
		if r.ResponseBody == nil || r.EventType != "" {
			continue
		}
		key := resourceOf(r.APIPath)
		now := by[key]
		switch {
		case now == nil:
			now = &round{has: map[string]bool{}}
			by[key] = now
		case now.has[r.APIPath]:
			ends[now.last] = true
			clear(now.has)
		}
		now.last, now.has[r.APIPath] = i, true
	}
	for _, r := range by {
		ends[r.last] = true
	}
	return ends
}

// resourceOf is a path without its namespace.
func resourceOf(path string) string {
	if before, after, ok := strings.Cut(path, "/namespaces/"); ok {
		if _, plural, ok := strings.Cut(after, "/"); ok {
			return before + "/" + plural
		}
	}
	return path
}

// listOf finds the list of a record by its resource.
func listOf(lists map[string]*sharkList, r *sharkRecord) (*sharkList, error) {
	key := resourceOf(r.APIPath)
	l := lists[key]
	if l == nil {
		l = &sharkList{paths: map[string]map[string][]byte{}}
		lists[key] = l
	}
	body, err := compact(r.ResponseBody)
	if err != nil {
		return nil, fmt.Errorf("record of %s: %w", r.APIPath, err)
	}
	r.ResponseBody = body
	if kind := rawjson.Text(body, "kind"); kind != "" {
		l.kind, l.apiVersion = cmp.Or(l.kind, strings.TrimSuffix(kind, "List")), cmp.Or(l.apiVersion, rawjson.Text(body, "apiVersion"))
	}
	return l, nil
}

func (l *sharkList) read(r *sharkRecord) error {
	if !strings.HasSuffix(rawjson.Text(r.ResponseBody, "kind"), "List") {
		return nil
	}
	objects := map[string][]byte{}
	for item := range rawjson.Elements(rawjson.Get(r.ResponseBody, "items")) {
		object := bytes.Clone(item)
		if rawjson.Get(item, "kind") == nil {
			object = rawjson.Apply(nil, fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q}`, l.kind, l.apiVersion), item)
		}
		if version(object) == 0 {
			return fmt.Errorf("record of %s: found an object without resourceVersion", r.APIPath)
		}
		objects[nameOf(object)] = object
	}
	if !l.changed {
		l.changed = !maps.EqualFunc(objects, l.paths[r.APIPath], func(a, b []byte) bool { return stateOf(a) == stateOf(b) })
	}
	l.paths[r.APIPath], l.version = objects, rawjson.Text(r.ResponseBody, "metadata", "resourceVersion")
	return nil
}

// event passes an event of a watch on.
func (l *sharkList) event(w *writer, r *sharkRecord) error {
	switch r.EventType {
	case "ADDED", "MODIFIED", "DELETED":
	default:
		return nil // bookmarks and errors
	}
	l.watched = true
	object := []byte(r.ResponseBody)
	if inner := rawjson.Get(object, "object"); rawjson.IsObject(inner) { // some versions keep the whole event
		object = inner
	}
	if rawjson.Text(object, "kind") == "" {
		object = rawjson.Apply(nil, fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q}`, l.kind, l.apiVersion), object)
	}
	w.event(r.CapturedAt, "", r.EventType, object)
	return nil
}

// stateOf tells the states of objects apart.
func stateOf(object []byte) string {
	return rawjson.Text(object, "metadata", "uid") + " " + rawjson.Text(object, "metadata", "resourceVersion")
}

// write writes the state as a list.
func (l *sharkList) write(w *writer, at time.Time) {
	if l.kind == "" {
		return
	}
	all := map[string][]byte{}
	for _, objects := range l.paths {
		maps.Copy(all, objects)
	}
	l.changed = false
	highest := uint64(0)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := all[name]
		highest = max(highest, version(o))
		w.event(at, "", "ADDED", o)
	}
	v := l.version
	if v == "" || v == "0" {
		v = fmt.Sprint(max(highest, 1))
	}
	w.listed(at, "", l.kind, l.apiVersion, v)
}
