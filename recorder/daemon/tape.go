package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/timeline"
)

// MarkMissing is the name of a MARK at the beginning of a tape: the roll had begun before the recording. Its reason says how
// that was seen.
const MarkMissing = "begin-missing"

const nameTime = "20060102t150405z"

// tapeName is the same for each recorder that has seen the trigger, as far as its clock is. A tape that was interrupted has a name of its
// own: another recorder, or this one once it runs again, may make that of the whole roll.
func tapeName(cluster string, r *trigger.Roll) string {
	began := r.Began
	if r.Part == 1 && !r.Trigger.Time.IsZero() {
		began = r.Trigger.Time
	}
	group := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return '-'
	}, strings.ToLower(r.Group))
	if group == "" {
		group = "nodes"
	}
	name := began.UTC().Format(nameTime) + "-" + group[:min(len(group), 80)] + "-" + r.ID(cluster)
	if r.Outcome == trigger.Interrupted {
		name += "-until-" + r.Ended.UTC().Format(nameTime)
	}
	return name
}

// first is the piece that a roll's tape begins with: the last one that goes back far enough.
func first(all []piece, r *trigger.Roll, before time.Duration) int {
	from := r.Began
	if r.Part == 1 {
		from = from.Add(-before)
	}
	i := 0
	for n, p := range all {
		if !p.start.After(from) {
			i = n
		}
	}
	return i
}

// cutTape makes the tape of a roll from pieces that are final.
func (d *Daemon) cutTape(all []piece, r trigger.Roll) (store.Tape, string, error) {
	if len(all) == 0 {
		return store.Tape{}, "", errors.New("found no piece of the history")
	}
	whole := all[0].start.After(r.Began.Add(-d.o.Before)) && r.Part == 1 // so that something may be missing
	all = all[first(all, &r, d.o.Before):]
	head, err := timeline.Open(all[0].path)
	if err != nil {
		return store.Tape{}, "", err
	}
	h := *head.Header()
	if err := head.Close(); err != nil {
		return store.Tape{}, "", err
	}
	t := store.Tape{
		Name: tapeName(h.Source.Cluster, &r), Cluster: h.Source.Cluster, ClusterName: d.o.Cluster, Group: r.Group,
		First: h.Metadata.Start.Time, Began: r.Began, Part: r.Part, Trigger: r.Trigger, Outcome: r.Outcome, Program: version.Program(),
	}
	h.Metadata.Name, h.Metadata.Extra = t.Name, nil
	h.Source.Program = t.Program
	if !h.Scope.Partial() && r.Group != "" && r.Group != trigger.Others {
		h.Scope.Nodegroup = r.Group // what feed and panel show
	}
	file := filepath.Join(d.o.Dir, tapesDir, t.File())
	part := filepath.Join(d.o.Dir, tapesDir, t.Name+".part"+ending)
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return t, "", err
	}
	w, err := timeline.Create(part, h)
	if err != nil {
		return t, "", err
	}
	c := cutter{tape: &t, out: w, until: r.Ended, missing: whole}
	err = join(all, c.take)
	if errors.Is(err, errPast) {
		err = nil
	}
	if err == nil {
		err = c.end(string(r.Outcome))
	}
	if err = errors.Join(err, w.Close()); err == nil {
		t.Events, t.Ended = w.Events(), t.First.Add(c.last)
		t.Bytes, t.SHA256, err = atomicfile.Sum(part)
	}
	if err == nil {
		err = os.Rename(part, file)
	}
	if err != nil {
		return t, "", errors.Join(fmt.Errorf("tape %s: %w", t.Name, err), os.Remove(part))
	}
	return t, file, atomicfile.Write(filepath.Join(d.o.Dir, tapesDir, t.Description()), t.Text(), 0o644)
}

var errPast = errors.New("after the end of the roll")

// cutter writes what belongs to a roll.
type cutter struct {
	tape    *store.Tape
	out     *timeline.Writer
	until   time.Time
	last    time.Duration
	missing bool // look whether the roll had begun before
	begun   bool // the state at the beginning is written
}

func (c *cutter) take(when time.Time, ev timeline.Event) error {
	if when.After(c.until) {
		return errPast
	}
	ev.At = when.Sub(c.tape.First)
	if ev.At > 0 && !c.begun {
		if err := c.begin(); err != nil {
			return err
		}
	}
	switch {
	case ev.Type == timeline.Mark && strings.HasPrefix(ev.Name, ours):
		return nil
	case ev.Type == timeline.Gap:
		c.tape.Gaps++
	case c.missing && !c.begun && ev.Resource == "nodes" && ev.Type == timeline.Added && c.tape.Missing == "":
		if how := leaving(ev.Object); how != "" {
			c.tape.Missing = fmt.Sprintf("node %s %s before the recording began", ev.Name, how)
		}
	}
	c.last = ev.At
	return c.out.Write(ev)
}

// begin says at the end of the state what is missing before it.
func (c *cutter) begin() error {
	c.begun = true
	if c.tape.Missing == "" {
		return nil
	}
	return c.out.Write(timeline.Event{Type: timeline.Mark, Name: MarkMissing, Reason: c.tape.Missing})
}

func (c *cutter) end(outcome string) error {
	if !c.begun {
		if err := c.begin(); err != nil {
			return err
		}
	}
	if at := c.until.Sub(c.tape.First).Truncate(time.Microsecond); at > c.last {
		c.last = at
	}
	reason := outcome
	if outcome == string(trigger.Unfinished) {
		reason = recorder.EndContinued
	}
	if err := c.out.Write(timeline.Event{At: c.last, Type: timeline.End, Reason: reason}); err != nil {
		return err
	}
	return c.out.Sync()
}

// leaving says how a node is on its way out, "" where it isn't.
func leaving(node []byte) string {
	switch {
	case rawjson.Text(node, "metadata", "deletionTimestamp") != "":
		return "was being deleted"
	case bytes.Equal(rawjson.Get(node, "spec", "unschedulable"), []byte("true")):
		return "was cordoned"
	}
	for t := range rawjson.Elements(rawjson.Get(node, "spec", "taints")) {
		if key := rawjson.Text(t, "key"); trigger.Announces(key) {
			return "had the taint " + key
		}
	}
	return ""
}
