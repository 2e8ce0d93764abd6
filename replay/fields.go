package replay

import (
	"fmt"
	"strings"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// getters holds the selectable fields of a kind, by label.
type getters map[string]func(*Object) string

// selectable lists what the API server can select by, beyond the name and the
// namespace: pkg/apis/core/v1/conversion.go and its like of the other groups,
// with the values of each pkg/registry/*/*/strategy.go, in kubernetes v1.36.
var selectable = map[string]getters{
	"nodes": {
		"spec.unschedulable": boolean("spec", "unschedulable"),
	},
	"pods": {
		"spec.nodeName":            text("spec", "nodeName"),
		"spec.restartPolicy":       text("spec", "restartPolicy"),
		"spec.schedulerName":       text("spec", "schedulerName"),
		"spec.serviceAccountName":  text("spec", "serviceAccountName"),
		"spec.hostNetwork":         boolean("spec", "hostNetwork"),
		"status.phase":             text("status", "phase"),
		"status.podIP":             podIP,
		"status.podIPs":            func(*Object) string { return "" }, // accepted, and always empty
		"status.nominatedNodeName": text("status", "nominatedNodeName"),
	},
	"events": {
		"involvedObject.kind":            text("involvedObject", "kind"),
		"involvedObject.namespace":       text("involvedObject", "namespace"),
		"involvedObject.name":            text("involvedObject", "name"),
		"involvedObject.uid":             text("involvedObject", "uid"),
		"involvedObject.apiVersion":      text("involvedObject", "apiVersion"),
		"involvedObject.resourceVersion": text("involvedObject", "resourceVersion"),
		"involvedObject.fieldPath":       text("involvedObject", "fieldPath"),
		"reason":                         text("reason"),
		"reportingComponent":             text("reportingComponent"),
		"source":                         eventSource,
		"type":                           text("type"),
	},
	"events.events.k8s.io": {
		"regarding.kind":            text("regarding", "kind"),
		"regarding.namespace":       text("regarding", "namespace"),
		"regarding.name":            text("regarding", "name"),
		"regarding.uid":             text("regarding", "uid"),
		"regarding.apiVersion":      text("regarding", "apiVersion"),
		"regarding.resourceVersion": text("regarding", "resourceVersion"),
		"regarding.fieldPath":       text("regarding", "fieldPath"),
		"reason":                    text("reason"),
		"reportingController":       text("reportingController"),
		"type":                      text("type"),
	},
	"namespaces":             {"status.phase": text("status", "phase")},
	"secrets":                {"type": text("type")},
	"services":               {"spec.clusterIP": text("spec", "clusterIP"), "spec.type": text("spec", "type")},
	"replicationcontrollers": {"status.replicas": number("status", "replicas")},
	"jobs.batch":             {"status.successful": number("status", "succeeded")},

	"certificatesigningrequests.certificates.k8s.io": {"spec.signerName": text("spec", "signerName")},
	"clustertrustbundles.certificates.k8s.io":        {"spec.signerName": text("spec", "signerName")},
	"podcertificaterequests.certificates.k8s.io": {
		"spec.signerName": text("spec", "signerName"), "spec.podName": text("spec", "podName"), "spec.nodeName": text("spec", "nodeName"),
	},
	"resourceslices.resource.k8s.io": {"spec.nodeName": text("spec", "nodeName"), "spec.driver": text("spec", "driver")},
}

// renamed holds labels that old clients still send.
var renamed = map[string]map[string]string{"pods": {"spec.host": "spec.nodeName"}}

// bare are the kinds without a namespace that don't let themselves be selected by it. Others do: their strategies have
// never been told that they have none.
var bare = map[string]bool{"nodes": true, "namespaces": true}

// selectableField returns the canonical label and how to read the field.
// definition is the CustomResourceDefinition of the resource, where the tape holds one.
func selectableField(r timeline.Resource, definition []byte, label string) (string, func(*Object) string, error) {
	custom := custom(r, definition)
	switch label {
	case "metadata.name":
		return label, (*Object).Name, nil
	case "metadata.namespace":
		if r.Namespaced || !custom && !bare[r.String()] {
			return label, (*Object).Namespace, nil
		}
	}
	kind, known := selectable[r.String()]
	if custom {
		kind, known = selectableOf(r, definition), true
	}
	if to, ok := renamed[r.String()][label]; ok {
		label = to
	}
	if get, ok := kind[label]; ok {
		return label, get, nil
	}
	if known {
		return "", nil, fmt.Errorf("field label not supported: %s", label)
	}
	// runtime.DefaultMetaV1FieldSelectorConversion
	return "", nil, fmt.Errorf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace")
}

func text(path ...string) func(*Object) string {
	return func(o *Object) string { return rawjson.Text(o.raw, path...) }
}

func boolean(path ...string) func(*Object) string {
	return func(o *Object) string {
		if string(rawjson.Get(o.raw, path...)) == "true" {
			return "true"
		}
		return "false"
	}
}

func number(path ...string) func(*Object) string {
	return func(o *Object) string {
		if n := rawjson.Get(o.raw, path...); len(n) > 0 {
			return strings.Clone(string(n))
		}
		return "0"
	}
}

func podIP(o *Object) string {
	for ip := range rawjson.Elements(rawjson.Get(o.raw, "status", "podIPs")) {
		return rawjson.Text(ip, "ip")
	}
	return rawjson.Text(o.raw, "status", "podIP")
}

func eventSource(o *Object) string {
	if s := rawjson.Text(o.raw, "source", "component"); s != "" {
		return s
	}
	return rawjson.Text(o.raw, "reportingComponent")
}
