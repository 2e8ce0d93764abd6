package kube

import "github.com/nodesim/nodesim/timeline"

// Custom is an object of a provider's own kind, such as a NodeClaim or a
// Machine. What it has beside metadata and conditions is JSON, compact, its
// members in the order in which they are to be written.
type Custom struct {
	Meta
	Resource   timeline.Resource
	Spec       string // the value of spec, "" for none
	Status     []Field
	Conditions Conditions
}

// Field is a member of a Custom's status.
type Field struct{ Name, JSON string }

// SetStatus sets a member of the status.
func (c *Custom) SetStatus(name, json string) {
	next := make([]Field, 0, len(c.Status)+1)
	found := false
	for _, f := range c.Status {
		if f.Name == name {
			f.JSON, found = json, true
		}
		next = append(next, f)
	}
	if !found {
		next = append(next, Field{name, json})
	}
	c.Status = next
}
