package kube

import (
	"slices"
	"strconv"
)

// A Requirement is one of a selector's: that a value is among some, or not, is there or not, or is a number above or
// below one. Operator is as the API writes it: In, NotIn, Exists, DoesNotExist, and Gt and Lt of nodes.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// holds as Matches of k8s.io/apimachinery/pkg/labels/selector.go does: what isn't there is NotIn.
func (r *Requirement) holds(value string, there bool) bool {
	switch r.Operator {
	case "In":
		return there && slices.Contains(r.Values, value)
	case "NotIn":
		return !there || !slices.Contains(r.Values, value)
	case "Exists":
		return there
	case "DoesNotExist":
		return !there
	case "Gt", "Lt":
		if !there || len(r.Values) != 1 {
			return false
		}
		is, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return false
		}
		than, err := strconv.ParseInt(r.Values[0], 10, 64)
		return err == nil && (r.Operator == "Gt" && is > than || r.Operator == "Lt" && is < than)
	}
	return false
}

// A Selector selects labels that meet all of its requirements. One without requirements selects all, nil selects
// nothing.
type Selector struct{ Requirements []Requirement }

// Selects reports whether the labels meet all requirements.
func (s *Selector) Selects(labels Pairs) bool {
	if s == nil {
		return false
	}
	for i := range s.Requirements {
		if value, there := labels.Lookup(s.Requirements[i].Key); !s.Requirements[i].holds(value, there) {
			return false
		}
	}
	return true
}
