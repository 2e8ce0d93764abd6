package formats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// trace is what matters of an ExportedTrace of SimKube (sk-store/src/trace.rs and event.rs of
// acrlabs/simkube): at each second the objects that were applied and deleted. They are the owners of
// pods, without status and resourceVersion.
type trace struct {
	Version int `json:"version"`
	Events  []struct {
		TS      int64             `json:"ts"`
		Applied []json.RawMessage `json:"applied_objs"`
		Deleted []json.RawMessage `json:"deleted_objs"`
	} `json:"events"`
	PodLifecycles json.RawMessage `json:"pod_lifecycles"`
}

// maxTrace bounds a trace, which is in memory.
const maxTrace = 512 << 20

// simkubeBinary reads a trace as skctl export writes it: MessagePack with named members.
func simkubeBinary(ctx context.Context, in io.Reader, w *writer) error {
	raw, err := readAll(in, "trace", maxTrace)
	if err != nil {
		return err
	}
	text, err := fromMessagePack(raw)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return simkube(ctx, text, w)
}

func simkubeJSON(ctx context.Context, in io.Reader, w *writer) error {
	raw, err := readAll(in, "trace", maxTrace)
	if err != nil {
		return err
	}
	return simkube(ctx, raw, w)
}

func simkube(ctx context.Context, raw []byte, w *writer) error {
	var t trace
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if t.Version != 2 {
		return fmt.Errorf("trace: found version %d, want 2, the only one since SimKube 2", t.Version)
	}
	known := map[string]bool{}
	listed := false
	for i, e := range t.Events {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		at := time.Unix(e.TS, 0).UTC()
		if at.Year() < 1970 || at.Year() > 9999 {
			return fmt.Errorf("trace: event %d: found ts %d, want seconds since 1970", i, e.TS)
		}
		kinds := map[[2]string]bool{}
		for _, o := range e.Applied {
			if err := w.simkubeObject(at, o, known, kinds, true); err != nil {
				return fmt.Errorf("trace: event %d: %w", i, err)
			}
		}
		if !listed && len(e.Applied) > 0 { // the first event is what was there
			listed = true
			for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
				w.listed(at, "", kind[1], kind[0], strconv.FormatUint(w.versions, 10))
			}
		}
		for _, o := range e.Deleted {
			if err := w.simkubeObject(at, o, known, kinds, false); err != nil {
				return fmt.Errorf("trace: event %d: %w", i, err)
			}
		}
	}
	if w.versions == 0 {
		return errors.New("trace: found no object, want those that SimKube tracks")
	}
	w.leave("nodes, pods and resourceVersions: a trace of SimKube has the owners of pods alone; versions are counted")
	if len(t.PodLifecycles) > len("{}") {
		w.leave("pod_lifecycles: how long pods of each owner ran")
	}
	return nil
}

func (w *writer) simkubeObject(at time.Time, raw []byte, known map[string]bool, kinds map[[2]string]bool, applied bool) error {
	object, err := compact(raw)
	if err != nil {
		return err
	}
	apiVersion, kind := rawjson.Text(object, "apiVersion"), rawjson.Text(object, "kind")
	if apiVersion == "" || kind == "" || rawjson.Text(object, "metadata", "name") == "" {
		return fmt.Errorf("found %.60q, want an object with kind, apiVersion and name", object)
	}
	kinds[[2]string{apiVersion, kind}] = true
	key := apiVersion + " " + kind + " " + nameOf(object)
	typ := "DELETED"
	if applied {
		typ = "ADDED"
		if known[key] {
			typ = "MODIFIED"
		}
	}
	known[key] = applied
	w.event(at, "", typ, w.counted(object))
	return nil
}
