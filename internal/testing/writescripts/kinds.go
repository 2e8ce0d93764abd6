package writescripts

import (
	"fmt"
	"strings"
)

// A kind is one that scripts write or look at.
type kind struct {
	path     string // of the group and version
	resource string
	cluster  bool     // objects have no namespace
	makes    []string // kinds of objects that a controller makes for it
	spec     string   // what each object of the kind has, YAML; $name is its name
}

// pod is what every pod has: it runs on the nodes of its script.
const pod = `nodeSelector: {eks.amazonaws.com/nodegroup: $slot}, ` +
	`containers: [{name: main, image: "registry.example/web:1.0", resources: {requests: {cpu: 50m, memory: 32Mi}}}]`

// app are the selector and the template of a workload.
const app = `selector: {matchLabels: {app: $name}}, template: {metadata: {labels: {app: $name}}, spec: {` + pod + `}}`

var kinds = map[string]kind{
	"Pod":                     {path: "/api/v1", resource: "pods", spec: `metadata: {labels: {app: $name}}, spec: {` + pod + `}`},
	"ConfigMap":               {path: "/api/v1", resource: "configmaps"},
	"Secret":                  {path: "/api/v1", resource: "secrets"},
	"ServiceAccount":          {path: "/api/v1", resource: "serviceaccounts"},
	"Service":                 {path: "/api/v1", resource: "services", makes: []string{"EndpointSlice", "Endpoints"}, spec: `spec: {selector: {app: $name}, ports: [{port: 80}]}`},
	"Endpoints":               {path: "/api/v1", resource: "endpoints"},
	"EndpointSlice":           {path: "/apis/discovery.k8s.io/v1", resource: "endpointslices"},
	"PersistentVolumeClaim":   {path: "/api/v1", resource: "persistentvolumeclaims"},
	"ReplicationController":   {path: "/api/v1", resource: "replicationcontrollers", makes: []string{"Pod"}, spec: `spec: {selector: {app: $name}, template: {metadata: {labels: {app: $name}}, spec: {` + pod + `}}}`},
	"Deployment":              {path: "/apis/apps/v1", resource: "deployments", makes: []string{"ReplicaSet", "Pod"}, spec: `spec: {` + app + `}`},
	"ReplicaSet":              {path: "/apis/apps/v1", resource: "replicasets", makes: []string{"Pod"}, spec: `spec: {` + app + `}`},
	"StatefulSet":             {path: "/apis/apps/v1", resource: "statefulsets", makes: []string{"ControllerRevision", "Pod"}, spec: `spec: {serviceName: $name, ` + app + `}`},
	"DaemonSet":               {path: "/apis/apps/v1", resource: "daemonsets", makes: []string{"ControllerRevision", "Pod"}, spec: `spec: {` + app + `}`},
	"ControllerRevision":      {path: "/apis/apps/v1", resource: "controllerrevisions"},
	"Job":                     {path: "/apis/batch/v1", resource: "jobs", makes: []string{"Pod"}, spec: `spec: {template: {spec: {restartPolicy: Never, ` + pod + `}}}`},
	"CronJob":                 {path: "/apis/batch/v1", resource: "cronjobs", makes: []string{"Job", "Pod"}, spec: `spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, ` + pod + `}}}}}`},
	"PodDisruptionBudget":     {path: "/apis/policy/v1", resource: "poddisruptionbudgets", spec: `spec: {selector: {matchLabels: {app: $name}}}`},
	"Lease":                   {path: "/apis/coordination.k8s.io/v1", resource: "leases"},
	"Role":                    {path: "/apis/rbac.authorization.k8s.io/v1", resource: "roles"},
	"HorizontalPodAutoscaler": {path: "/apis/autoscaling/v2", resource: "horizontalpodautoscalers"},
	"ResourceQuota":           {path: "/api/v1", resource: "resourcequotas"},
	"LimitRange":              {path: "/api/v1", resource: "limitranges"},

	"Node":          {path: "/api/v1", resource: "nodes", cluster: true},
	"Namespace":     {path: "/api/v1", resource: "namespaces", cluster: true},
	"PriorityClass": {path: "/apis/scheduling.k8s.io/v1", resource: "priorityclasses", cluster: true},
	"CustomResourceDefinition": {path: "/apis/apiextensions.k8s.io/v1", resource: "customresourcedefinitions", cluster: true, spec: `metadata: {name: widgets.$ns.example.com}, ` +
		`spec: {group: $ns.example.com, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}, ` +
		`versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, ` +
		`properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1, maximum: 9, default: 3}, colour: {type: string, enum: [red, green]}, parts: {type: array, items: {type: string}}}}, ` +
		`status: {type: object, properties: {ready: {type: boolean}, size: {type: integer}}}}}}}]}`},
	// Widget is the kind that a script's own CustomResourceDefinition defines.
	"Widget": {path: "/apis/$ns.example.com/v1", resource: "widgets"},
}

// kindOf finds a kind.
func kindOf(name string) (kind, error) {
	k, ok := kinds[name]
	if !ok {
		return k, fmt.Errorf("found the kind %q: want one that kinds.go lists", name)
	}
	return k, nil
}

// version is the kind's apiVersion.
func (k kind) version() string {
	if v, core := strings.CutPrefix(k.path, "/api/"); core {
		return v
	}
	return strings.TrimPrefix(k.path, "/apis/")
}
