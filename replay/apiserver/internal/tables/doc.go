// Package tables makes the rows that kubectl prints: the columns and cells which kube-apiserver computes when a client
// asks for a Table (meta.k8s.io/v1) instead of objects, as `kubectl get` does.
//
// In: a resource, and the JSON of one object as its API server stored or sent it. Out: the column definitions of the
// resource, and the object's cells, in the types and the words of kube-apiserver 1.36.
//
//	p := tables.For(resource, nil)
//	table.ColumnDefinitions = p.Columns()
//	cells, conditions, err := p.Cells(raw, now)
//
// All columns come, those of `-o wide` too: the client leaves out what has a priority. So does the API server
// (k8s.io/kubernetes, pkg/printers/storage/storage.go).
//
// # Four kinds of tables
//
//   - A built-in resource with columns of its own: its lines in columns.tsv, whose cells are paths and small functions.
//     The rows of pods, nodes, services, events, jobs and autoscalers are Go code, over their Go types
//     (pkg/printers/internalversion/printers.go; apiservices: k8s.io/kube-aggregator).
//   - A built-in resource without: NAME and CREATED AT (k8s.io/apiserver, pkg/registry/rest/table.go).
//   - A custom resource with additionalPrinterColumns: NAME and those
//     (k8s.io/apiextensions-apiserver, pkg/registry/customresource/tableconvertor).
//   - Everything else: NAME and AGE, as of a custom resource that defines no columns.
//
// # Time
//
// Ages are told from the moment that the caller gives, which in a replay is the tape's and not the reader's. The
// package reads no clock.
//
// # Objects that don't read well
//
// The API server prints what it has decoded and defaulted. Where a default shows in a cell, it is applied here as
// well, so a short object written by hand prints like a stored one. An object with a field that a cell shows and that
// isn't of the cell's type still gets a row, with name and age where it has them and <unknown> in every other cell: one
// odd object must not hide the rest of a list. Only what is no JSON object is an error. Nothing makes the package panic,
// and columns of a CustomResourceDefinition whose paths could search forever are left out, where the API server would
// search.
//
// It must never change the bytes that it is given, nor keep them.
package tables
