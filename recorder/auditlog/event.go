package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// event is what matters of an audit event (k8s.io/apiserver, pkg/apis/audit/v1/types.go).
type event struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	AuditID    string `json:"auditID"`
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
		APIVersion  string `json:"apiVersion"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus status          `json:"responseStatus"`
	RequestObject  json.RawMessage `json:"requestObject"`
	ResponseObject json.RawMessage `json:"responseObject"`
	Received       time.Time       `json:"requestReceivedTimestamp"`
	Staged         time.Time       `json:"stageTimestamp"`
}

// status is a metav1.Status. It is in the log from the level Metadata on, with message and
// details where the request failed (LogResponseObject in pkg/audit/request.go there).
type status struct {
	Kind    string `json:"kind"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details struct {
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
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	ev := &event{}
	if err := json.Unmarshal(raw, ev); err != nil {
		return nil, fmt.Errorf("audit event: %w", err)
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

// body returns the answer where that is an object of the kind, "" for any but a Status.
func (ev *event) body(kind string) json.RawMessage {
	var head struct {
		Kind     string `json:"kind"`
		Metadata *struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if len(ev.ResponseObject) == 0 || ev.ResponseObject[0] != '{' || json.Unmarshal(ev.ResponseObject, &head) != nil || head.Kind != kind {
		return nil
	}
	return ev.ResponseObject
}

// request returns what was asked for where that is an object.
func (ev *event) request() json.RawMessage {
	if len(ev.RequestObject) == 0 || ev.RequestObject[0] != '{' {
		return nil
	}
	return ev.RequestObject
}

// client is the name and version of the program that asked.
func (ev *event) client() string {
	agent, _, _ := strings.Cut(ev.UserAgent, " ")
	if len(agent) > 100 {
		agent = agent[:100]
	}
	return agent
}

func (ev *event) dryRun() bool { return strings.Contains(ev.RequestURI, "dryRun=") }
