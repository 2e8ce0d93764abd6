package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
)

// Tape describes a finished tape: NAME.json beside NAME.yaml.zst in a folder, beside NAME-CHECKSUM.yaml.zst in a bucket.
type Tape struct {
	// Name is of this part of this roll alone: two recorders of a cluster give its tape the same one. A tape that was interrupted has a name
	// that no other recorder's has.
	Name string `json:"name"`
	// Cluster is the UID of the namespace kube-system, ClusterName what people call the cluster.
	Cluster     string `json:"cluster"`
	ClusterName string `json:"clusterName,omitempty"`
	// Group is the node group that was rolled; "" for nodes of none.
	Group string `json:"group"`
	// First is the wall time of the tape's 0s, Began when the roll or this part of it began, Ended when the tape ends.
	First time.Time `json:"first"`
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended"`
	// Part is 1, and one more for each tape that continues the roll.
	Part    int             `json:"part"`
	Trigger trigger.Trigger `json:"trigger"`
	Outcome trigger.Outcome `json:"outcome"`
	// Missing says what of the roll was before the recording; "" where nothing is known to be.
	Missing string `json:"missing,omitempty"`
	// Events counts the lines after the header, Gaps the GAPs among them.
	Events int `json:"events"`
	Gaps   int `json:"gaps"`
	// Bytes and SHA256, in hexadecimal, are those of the file.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Program is what made the tape, with its version.
	Program string `json:"program"`
}

const alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// isName reports whether a name is a file's on every system, and a key's in every bucket.
func isName(s string) bool {
	return consistsOf(s, 200, alphanumeric+"._-") && strings.Contains(alphanumeric, s[:1])
}

// isUID reports whether a cluster is the UID of a namespace.
func isUID(s string) bool { return consistsOf(s, 64, alphanumeric+"-") }

func isChecksum(s string) bool { return len(s) == 64 && consistsOf(s, 64, "0123456789abcdef") }

// consistsOf reports whether a text has one or more of these characters, and no others. A regular expression with a bound takes 100 kB as the program
// starts, whatever the program does.
func consistsOf(s string, most int, characters string) bool {
	return s != "" && len(s) <= most && strings.Trim(s, characters) == ""
}

// Check says what is wrong with a description: it comes from a bucket that others write to.
func (t *Tape) Check() error {
	switch {
	case !isName(t.Name):
		return fmt.Errorf("name: found %.80q, want up to 200 letters, digits, dots, dashes and underscores", t.Name)
	case !isUID(t.Cluster):
		return fmt.Errorf("cluster: found %.80q, want the UID of the namespace kube-system", t.Cluster)
	case t.Began.IsZero():
		return errors.New("began: found none, want a time")
	case !isChecksum(t.SHA256):
		return fmt.Errorf("sha256: found %.80q, want 64 hexadecimal digits", t.SHA256)
	case t.Bytes <= 0:
		return fmt.Errorf("bytes: found %d, want more than 0", t.Bytes)
	}
	// A time may be read that can't be written, such as one of the zone +24:00.
	_, err := json.Marshal(t)
	return err
}

// Parse reads a description.
func Parse(text []byte) (Tape, error) {
	var t Tape
	if err := json.Unmarshal(text, &t); err != nil {
		return Tape{}, fmt.Errorf("description: %w", err)
	}
	if err := t.Check(); err != nil {
		return Tape{}, fmt.Errorf("description: %w", err)
	}
	return t, nil
}

// Text is the description as it is kept.
func (t *Tape) Text() []byte {
	text, _ := json.MarshalIndent(t, "", "  ") // of strings, numbers and times of this century
	return append(text, '\n')
}

// Compare orders tapes by when their rolls began, then by name.
func Compare(a, b Tape) int {
	return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Name, b.Name))
}

// The endings of the two objects of a tape.
const (
	tapeEnding        = ".yaml.zst"
	descriptionEnding = ".json"
)

// File is the name of a tape's file, Description that of the file which describes it.
func (t *Tape) File() string { return t.Name + tapeEnding }

// Object is the key of the tape's file in a bucket: CLUSTER/2026/11/27/NAME-CHECKSUM.yaml.zst. Where two recorders upload a tape of one name
// at once, neither can replace the file that the other's description is of.
func (t *Tape) Object() string { return t.Key() + "-" + t.SHA256[:12] + tapeEnding }

// Description is the name of the file that describes the tape.
func (t *Tape) Description() string { return t.Name + descriptionEnding }

// Key is the tape's in a bucket, with which the keys of its two objects begin: CLUSTER/2026/11/27/NAME. No other tape of the store has it.
func (t *Tape) Key() string { return t.folder() + t.Name }

// folder is where both are in a bucket.
func (t *Tape) folder() string { return t.Cluster + "/" + t.Began.UTC().Format("2006/01/02") + "/" }
