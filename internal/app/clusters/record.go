package clusters

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// A Record holds what any program may know of a cluster.
type Record struct {
	Name       string    `json:"name"`
	State      State     `json:"state"`
	Server     string    `json:"server,omitempty"`     // URL
	Kubeconfig string    `json:"kubeconfig,omitempty"` // file
	Started    time.Time `json:"started"`
	Keeper     int       `json:"keeper"` // pid of the nodesim that keeps it
	Speed      float64   `json:"speed"`
	AuditLog   string    `json:"auditLog,omitempty"`
	Folder     string    `json:"folder"`

	// Processes are the pids by component.
	Processes map[string]int `json:"processes,omitempty"`
}

// State says how far a cluster is.
type State string

// The states of a cluster. One that has ended is in no list.
const (
	Starting State = "starting" // its programs may still be built
	Running  State = "running"
)

func (r Record) write() error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(recordIn(r.Folder), text, 0o600)
}

func readRecord(folder string) (r Record, err error) {
	text, err := os.ReadFile(recordIn(folder))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

func recordIn(folder string) string { return filepath.Join(folder, "cluster.json") }
