package tables

import "k8s.io/apimachinery/pkg/runtime/schema"

// builtin are the resources of kube-apiserver itself, with what makes their printers.
var builtin = map[schema.GroupResource]func(version string) *Printer{
	{Resource: "nodes"}:  always(nodes),
	{Resource: "pods"}:   always(pods),
	{Resource: "events"}: always(coreEvents),

	{Group: "events.k8s.io", Resource: "events"}:        always(newerEvents),
	{Group: "policy", Resource: "poddisruptionbudgets"}: always(disruptionBudgets),
}

// always is for the kinds that look the same in all versions, as far as the columns go.
func always(printer func() *Printer) func(string) *Printer {
	return func(string) *Printer { return printer() }
}
