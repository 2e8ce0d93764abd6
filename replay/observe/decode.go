package observe

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// ReadPatches makes r hand out patches where the Follower can do without whole
// objects. It is called for a Reader and a Follower that are both at the beginning
// of the tape.
func (f *Follower) ReadPatches(r *timeline.Reader) {
	f.TrustPatches()
	r.HandOutPatches(func(res timeline.Resource) bool {
		switch res.Group + "/" + res.Resource {
		case "/pods":
			return !f.feed.Pods()
		case "/events", "events.k8s.io/events":
			return false
		}
		return true
	})
}

// TrustPatches makes the Follower look at patches alone where it knows their object:
// every event comes to it as a Reader has read it, from the tape's beginning.
func (f *Follower) TrustPatches() { f.trust = true }

// patched reports whether an event is known by its patch.
func (f *Follower) patched(ev *timeline.Event) bool {
	return ev.Object == nil || f.trust && ev.Patch != nil
}

var errNoObject = errors.New("a patch of what wasn't whole before")

func when(raw []byte) time.Time {
	s, _ := rawjson.Unquote(raw)
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}

func unreadable(ev *timeline.Event, err error) error {
	return fmt.Errorf("%s %s %s/%s at %s: %w", ev.Type, ev.Resource, ev.Namespace, ev.Name, timeline.FormatAt(ev.At), err)
}

// text is the string that raw is; none, or null, is an empty one.
func text(member string, raw []byte) (string, error) {
	if raw == nil || string(raw) == "null" {
		return "", nil
	}
	s, ok := rawjson.Unquote(raw)
	if !ok {
		return "", fmt.Errorf("%s %.40q: want a string", member, raw)
	}
	return s, nil
}

// integer is the number that raw is; none, or null, is 0.
func integer(member string, raw []byte, bits int) (int64, error) {
	if raw == nil || string(raw) == "null" {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(raw), 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s %.40q: want an integer of %d bits", member, raw, bits)
	}
	return n, nil
}
