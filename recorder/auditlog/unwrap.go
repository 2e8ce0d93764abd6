package auditlog

import (
	"encoding/json"
	"strings"
)

// Formats, as a Report names them.
const (
	formatPlain = "audit log of an API server"
	formatEKS   = "audit log of EKS, as CloudWatch exports it"
	formatGKE   = "audit log of GKE, as Cloud Logging exports it"
	formatAKS   = "audit log of AKS, as Azure Monitor exports it"
)

// wrappers are the members in which log services put the line that the API server wrote, each with
// its service: CloudWatch Logs Insights has @message, its other exports message; Azure has
// log in the properties of resource logs, and log_s in the table AzureDiagnostics.
var wrappers = []struct{ member, format string }{
	{"@message", formatEKS}, {"message", formatEKS}, {"log_s", formatAKS}, {"log", formatAKS},
}

// unwrap finds the audit event in an entry of a log; nil where it has none, since other
// logs may be in the same export.
func unwrap(m members) (ev *event, format string, err error) {
	switch {
	case m.isEvent():
		ev, err = m.event()
		return ev, formatPlain, err
	case m["protoPayload"] != nil:
		ev, err = cloudLogging(m)
		return ev, formatGKE, err
	case m["AuditId"] != nil && m["Verb"] != nil:
		ev, err = aksTable(m)
		return ev, formatAKS, err
	case m["properties"] != nil:
		if inner := m.object("properties"); inner != nil {
			return unwrap(inner)
		}
		return nil, "", nil
	}
	for _, w := range wrappers {
		inner := m.object(w.member)
		if inner == nil || !inner.isEvent() {
			continue
		}
		ev, err = inner.event()
		return ev, w.format, err
	}
	return nil, "", nil
}

// aksTable reads a row of the tables AKSAudit and AKSAuditAdmin, whose columns are the members of
// an audit event; an object may be the text of one, or "skipped-too-big-size-object".
func aksTable(m members) (*event, error) {
	row := members{"kind": json.RawMessage(`"Event"`), "stage": json.RawMessage(`"ResponseComplete"`)}
	for column, member := range map[string]string{
		"AuditId": "auditID", "Stage": "stage", "Verb": "verb", "RequestUri": "requestURI", "UserAgent": "userAgent",
		"RequestReceivedTime": "requestReceivedTimestamp", "StageReceivedTime": "stageTimestamp",
	} {
		if m[column] != nil {
			row[member] = m[column]
		}
	}
	for column, member := range map[string]string{
		"User": "user", "ObjectRef": "objectRef", "ResponseStatus": "responseStatus",
		"RequestObject": "requestObject", "ResponseObject": "responseObject",
	} {
		if inner := m.object(column); inner != nil {
			row[member], _ = json.Marshal(inner)
		}
	}
	if row["stage"] == nil || row.text("stage") == "" {
		row["stage"] = json.RawMessage(`"ResponseComplete"`)
	}
	return row.event()
}

// cloudLogging reads a LogEntry whose payload is an AuditLog (google/cloud/audit/audit_log.proto),
// as GKE writes one for each request: resourceName is the path without its prefix,
// methodName ends in the verb, and request and response have a @type.
func cloudLogging(m members) (*event, error) {
	p := m.object("protoPayload")
	if p == nil || p.text("serviceName") != "k8s.io" {
		return nil, nil //nolint:nilnil // another log of the same project
	}
	ev := &event{Stage: "ResponseComplete", RequestURI: p.text("resourceName")}
	method := p.text("methodName")
	ev.Verb = method[strings.LastIndexByte(method, '.')+1:]
	ev.User.Username = p.object("authenticationInfo").text("principalEmail")
	ev.UserAgent = p.object("requestMetadata").text("callerSuppliedUserAgent")
	ev.AuditID = m.object("operation").text("id")
	if at := m["timestamp"]; at != nil {
		if err := json.Unmarshal(at, &ev.Staged); err != nil {
			return nil, err
		}
	}
	ev.named(p.text("resourceName"))
	ev.RequestObject, ev.ResponseObject = untyped(p["request"]), untyped(p["response"])
	ev.ResponseStatus = googleStatus(p)
	return ev, nil
}

// named takes the reference to the object from a resourceName: core/v1/nodes/NAME,
// apps/v1/namespaces/NAMESPACE/deployments/NAME/status.
func (ev *event) named(path string) {
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return
	}
	ref := &ev.ObjectRef
	ref.APIGroup, ref.APIVersion = parts[0], parts[1]
	if ref.APIGroup == "core" {
		ref.APIGroup = ""
	}
	if parts = parts[2:]; parts[0] == "namespaces" && len(parts) > 2 {
		ref.Namespace, parts = parts[1], parts[2:]
	}
	ref.Resource = parts[0]
	if len(parts) > 1 {
		ref.Name = parts[1]
	}
	if len(parts) > 2 {
		ref.Subresource = parts[2]
	}
}

// untyped takes @type out of an object.
func untyped(raw json.RawMessage) json.RawMessage {
	var m members
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return raw
	}
	delete(m, "@type")
	out, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return out
}

// codes are those of google.rpc.Code that an eviction may be answered with, as HTTP has them
// (google/rpc/code.proto).
var codes = map[int]int{0: 200, 3: 400, 5: 404, 6: 409, 7: 403, 8: 429, 10: 409, 13: 500, 14: 503, 16: 401}

// googleStatus is the answer's Status where it was one, else what google.rpc.Status tells.
func googleStatus(p members) (st status) {
	if json.Unmarshal(untyped(p["response"]), &st) == nil && st.Kind == "Status" && st.Code != 0 {
		return st
	}
	st = status{Code: 200}
	var rpc struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if p["status"] != nil && json.Unmarshal(p["status"], &rpc) == nil && rpc.Code != 0 {
		st.Code, st.Message = codes[rpc.Code], rpc.Message
		if st.Code == 0 {
			st.Code = 500
		}
	}
	return st
}
