package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// event is what matters of an audit event (k8s.io/apiserver, pkg/apis/audit/v1/types.go).
type event struct {
	AuditID    string
	Stage      string
	RequestURI string
	Verb       string
	UserAgent  string
	User       struct {
		Username string `json:"username"`
	}
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
		APIVersion  string `json:"apiVersion"`
		Subresource string `json:"subresource"`
	}
	ResponseStatus   status
	RequestObject    json.RawMessage
	ResponseObject   json.RawMessage
	Received, Staged time.Time
}

// status is a metav1.Status. It is in the log from the level Metadata on, with message and
// details where the request failed (LogResponseObject in pkg/audit/request.go there).
type status struct {
	Kind    string `json:"kind"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details struct {
		Name   string `json:"name"`
		Causes []struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"causes"`
	} `json:"details"`
}

// members is a JSON object that was taken apart.
type members map[string]json.RawMessage

func (m members) text(name string) string {
	var s string
	_ = json.Unmarshal(m[name], &s) // anything else is no text
	return s
}

// object returns a member that is an object, or a text that holds one, as the log
// services have it.
func (m members) object(name string) members {
	raw := m[name]
	if s := m.text(name); s != "" {
		raw = []byte(s)
	}
	var inner members
	if json.Unmarshal(raw, &inner) != nil {
		return nil
	}
	return inner
}

// isEvent reports whether this is an audit event. Those of an EventList, and of webhooks, have no
// kind of their own.
func (m members) isEvent() bool { return m["auditID"] != nil && m["stage"] != nil }

var errOldVersion = errors.New("want audit.k8s.io/v1")

func (m members) event() (*event, error) {
	if v := m.text("apiVersion"); v != "" && v != "audit.k8s.io/v1" {
		return nil, fmt.Errorf("found an audit event of %.60q: %w, the only version since Kubernetes 1.24", v, errOldVersion)
	}
	ev := &event{RequestObject: m["requestObject"], ResponseObject: m["responseObject"]}
	for name, to := range map[string]any{
		"auditID": &ev.AuditID, "stage": &ev.Stage, "requestURI": &ev.RequestURI, "verb": &ev.Verb, "userAgent": &ev.UserAgent,
		"user": &ev.User, "objectRef": &ev.ObjectRef, "responseStatus": &ev.ResponseStatus,
		"requestReceivedTimestamp": &ev.Received, "stageTimestamp": &ev.Staged,
	} {
		if m[name] == nil {
			continue
		}
		if err := json.Unmarshal(m[name], to); err != nil {
			return nil, fmt.Errorf("audit event: %s: %w", name, err)
		}
	}
	return ev, nil
}

// at is when the answer was complete.
func (ev *event) at() time.Time {
	if ev.Staged.IsZero() {
		return ev.Received
	}
	return ev.Staged
}

// body returns the answer, compact, where that is an object of the kind; nil where it is a Status, or isn't
// logged.
func (ev *event) body(kind string) []byte {
	if body := compact(ev.ResponseObject); rawjson.Text(body, "kind") == kind {
		return body
	}
	return nil
}

// client is the name and version of the program that asked.
func (ev *event) client() string {
	agent, _, _ := strings.Cut(ev.UserAgent, " ")
	if len(agent) > 100 {
		agent = agent[:100]
	}
	return agent
}

// dryRun reports whether nothing was stored. A deletion says so in its body: at the level Metadata nobody knows.
func (ev *event) dryRun() bool {
	deletes := ev.Verb == "delete" || ev.Verb == "deletecollection"
	return strings.Contains(ev.RequestURI, "dryRun=") || deletes && isDryRun(compact(ev.RequestObject))
}

// isDryRun reads DeleteOptions.
func isDryRun(options []byte) bool {
	asked := string(rawjson.Get(options, "dryRun"))
	return asked != "" && asked != "[]" && asked != "null"
}

// missing reports whether an answer of 404 is about the object itself. That of a subresource or an API version that the
// server doesn't have names no object (serviceErrorHandler in k8s.io/apiserver, pkg/server/config.go), and one that comes from
// a proxied program is of that program.
func (ev *event) missing() bool {
	if sub := ev.ObjectRef.Subresource; sub != "" && sub != "status" {
		return false
	}
	st := ev.ResponseStatus
	return st.Details.Name == ev.ObjectRef.Name || strings.Contains(st.Message, strconv.Quote(ev.ObjectRef.Name)+" not found") ||
		strings.EqualFold(st.Message, "not found") // all that Google's logs may say
}
