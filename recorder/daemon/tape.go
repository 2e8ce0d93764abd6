package daemon

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
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
// own: another recorder, or this one once it runs again, may make that of the whole roll. By which recording it was made is in that name too,
// as a hash: two recorders may be interrupted in the same second. It comes last, so that the names are in the order of time.
func tapeName(cluster, by string, r *trigger.Roll) string {
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
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d", cluster, r.Group, by, r.Began.UnixNano(), r.Ended.UnixNano()))
		name += "-until-" + r.Ended.UTC().Format(nameTime) + "-" + hex.EncodeToString(sum[:4])
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

// recordingOf tells a recording from all others. Those of earlier versions don't say it: their pieces begin at different times.
func recordingOf(h *timeline.Header) string {
	return cmp.Or(h.Metadata.Extra[recording].Value, h.Metadata.Start.UTC().Format(time.RFC3339Nano))
}

// cutTape makes the tape of a roll from pieces that are final. A finished tape of that name with other content stays: the new one has a number
// at the end of its name. So it is where a daemon was killed before its history said that the roll has its tape, and then had less of the
// roll, or was of another version.
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
		Name: tapeName(h.Source.Cluster, recordingOf(&h), &r), Cluster: h.Source.Cluster, ClusterName: d.o.Cluster, Group: r.Group,
		First: h.Metadata.Start.Time, Began: r.Began, Part: r.Part, Trigger: r.Trigger, Outcome: r.Outcome, Program: version.Program(),
	}
	h.Metadata.Extra = nil
	h.Source.Program = t.Program
	if !h.Scope.Partial() && r.Group != "" && r.Group != trigger.Others {
		h.Scope.Nodegroup = r.Group // what feed and panel show
	}
	name := t.Name
	for n := 2; ; n++ {
		made, file, err := d.writeTape(all, t, h, &r, whole)
		if !errors.Is(err, errTaken) {
			return made, file, err
		}
		d.o.Log(Warning, "a tape of that name is there with other content: both are kept", "tape", t.Name)
		t.Name = fmt.Sprintf("%s-%d", name, n)
	}
}

// writeTape makes the two files of a tape. An errTaken says that its name is that of another finished one.
func (d *Daemon) writeTape(all []piece, t store.Tape, h timeline.Header, r *trigger.Roll, whole bool) (store.Tape, string, error) {
	h.Metadata.Name = t.Name
	file, part := d.path(tapesDir, t.File()), d.path(tapesDir, t.Name+".part"+ending)
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return t, "", err
	}
	w, err := timeline.Create(part, h)
	if err != nil {
		return t, "", err
	}
	c := cutter{tape: &t, out: w, until: r.Ended, missing: whole}
	if r.Found && r.Part == 1 {
		c.found = "the roll was on when the recording began"
		if r.Trigger.Kind == trigger.Found {
			c.found = r.Trigger.Reason
		}
	}
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
		err = d.free(&t)
	}
	if err == nil {
		err = os.Rename(part, file)
	}
	if err != nil {
		return t, "", errors.Join(fmt.Errorf("tape %s: %w", t.Name, err), os.Remove(part))
	}
	return t, file, atomicfile.Write(d.path(tapesDir, t.Description()), t.Text(), 0o644)
}

var errTaken = errors.New("its name is that of another finished tape")

// free returns errTaken where the folder has a finished tape of the same name with other content. A file without a description is no finished
// tape: nobody was told of it.
func (d *Daemon) free(t *store.Tape) error {
	text, err := os.ReadFile(d.path(tapesDir, t.Description()))
	if err == nil {
		if is, err := store.Parse(text); err != nil || is.SHA256 != t.SHA256 {
			return errTaken
		}
		return nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, sum, err := atomicfile.Sum(d.path(tapesDir, t.File())); err == nil && sum != t.SHA256 {
		d.o.Log(Warning, "a tape that has no description is made again", "tape", t.Name)
	}
	return nil
}

var errPast = errors.New("after the end of the roll")

// cutter writes what belongs to a roll.
type cutter struct {
	tape    *store.Tape
	out     *timeline.Writer
	until   time.Time
	last    time.Duration
	missing bool   // look whether the roll had begun before
	found   string // what says that it had, where no node does
	begun   bool   // the state at the beginning is written
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
	c.tape.Missing = cmp.Or(c.tape.Missing, c.found)
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
