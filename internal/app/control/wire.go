package control

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// Path is where the API is mounted. Nothing of Kubernetes lives there.
const Path = "/nodesim.dev/v1/"

// APIVersion and the kinds tell that an answer is one of this API.
const (
	APIVersion  = "nodesim.dev/v1"
	KindStatus  = "ReplayStatus"
	KindStepped = "ReplayStep"
)

// Seconds is a time on the tape, in JSON as the feed spells it: "92.412s".
type Seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return append(noderoll.AppendSeconds([]byte{'"'}, time.Duration(s)), '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	*s = Seconds(d)
	return err
}

// Status says where a replay is and which clients watch it.
type Status struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Tape is the name in the tape's header.
	Tape string `json:"tape"`
	// Position is the tape's time now, Event that of the last event.
	Position Seconds `json:"position"`
	Event    Seconds `json:"event"`
	// Events is the number of events applied.
	Events int `json:"events"`
	// Duration is the position of the tape's last event; left out where it
	// isn't known.
	Duration Seconds `json:"duration,omitempty"`
	Speed    string  `json:"speed"`
	Paused   bool    `json:"paused"`
	// Ended says that nothing comes any more.
	Ended bool `json:"ended"`
	// Rewinds counts how often the tape went back, by a seek or a loop: each
	// ends every open watch.
	Rewinds int      `json:"rewinds"`
	Markers []Marker `json:"markers"`
	Watches []Watch  `json:"watches"`
	Faults  []Fault  `json:"faults"`
	// Note says how a seek was obeyed that would have left the tape.
	Note string `json:"note,omitempty"`
	// Error says why the tape can't go on.
	Error string `json:"error,omitempty"`
}

// Marker is a named moment.
type Marker struct {
	Name string  `json:"name"`
	At   Seconds `json:"at"`
	// Set says that it isn't on the tape: a client set it while it ran.
	Set bool `json:"set,omitempty"`
}

// Watch is an open watch.
type Watch struct {
	Resource      string `json:"resource"` // "nodes", "poddisruptionbudgets.policy"
	Namespace     string `json:"namespace,omitempty"`
	LabelSelector string `json:"labelSelector,omitempty"`
	FieldSelector string `json:"fieldSelector,omitempty"`
	Version       string `json:"resourceVersion"`
	// Lag is the number of events of the resource the client hasn't been handed yet.
	Lag int `json:"lag"`
}

// Fault is one that was fired.
type Fault struct {
	At Seconds `json:"at"`
	// Text is a line that says which, where and on what.
	Text string `json:"text"`
}

// Until names what a step leads to.
type Until string

// The moments that a step can lead to.
const (
	UntilEvent      Until = "event"      // the next event that a client can see
	UntilTransition Until = "transition" // what a node goes through, the end of a roll, a mark (Landmark of internal/ui)
	UntilMarker     Until = "marker"     // a MARK of the tape
)

// Untils are all of them.
var Untils = []string{string(UntilEvent), string(UntilTransition), string(UntilMarker)}

// Steps asks for steps.
type Steps struct {
	// Count is the number of events; 0 is one.
	Count int `json:"count,omitempty"`
	// Until says what a step is; "" is an event.
	Until Until `json:"until,omitempty"`
	// Wait goes in lock-step: after each event, until every open watch has been
	// handed it.
	Wait bool `json:"wait,omitempty"`
}

// Stepped says what steps have applied.
type Stepped struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Events is the number of events of the tape applied, Applied the last of
	// them, a hundred at most.
	Events  int       `json:"events"`
	Applied []Applied `json:"applied"`
	// Transitions are the entries of the feed that a step until a transition has led
	// to, the last ones where there are many.
	Transitions []noderoll.Entry `json:"transitions,omitempty"`
	Status      Status           `json:"status"`
}

// Applied is an event of the tape.
type Applied struct {
	At        Seconds `json:"at"`
	Type      string  `json:"type"`
	Resource  string  `json:"resource,omitempty"`
	Namespace string  `json:"namespace,omitempty"`
	Name      string  `json:"name,omitempty"`
	Version   string  `json:"resourceVersion,omitempty"` // as on the tape
}

// Seek asks for a position or a distance, in the words of [ParseTarget].
type Seek struct {
	To string `json:"to"`
}

// Speed asks for a pace, in the words of [replay.ParseSpeed].
type Speed struct {
	Speed string `json:"speed"`
}

// Mark asks for a marker at the present position.
type Mark struct {
	Name string `json:"name"`
}

// Do asks for a fault of the cluster, in the words of a scenario file:
// "{vanish: {group: workers}}".
type Do struct {
	Fault string `json:"fault"`
}

// untils lists what a step can lead to, for errors.
func untils() string { return strings.Join(Untils, ", ") }
