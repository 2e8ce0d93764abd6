package fault

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// Fired is a fault that has fired.
type Fired struct {
	// At is the position on the tape; where a request was hit, that of what
	// happened last before it.
	At   time.Duration
	Spec Spec
	// Resource is the plural, with its group where it has one; "" where open
	// watches of several resources were hit at once.
	Resource string
	// Namespace, Name, Type and Version are those of the event, the version as
	// it is on the tape; of a request the namespace and name that it asked for.
	// Empty where a fault fires by itself.
	Namespace, Name, Type, Version string
	// Verb is that of a request.
	Verb string
}

// String returns one line:
//
//	T+1m32.400s  fault drop  nodes ip-10-0-1-10 MODIFIED rv 530
//	T+30.000s  fault 429  list pods
func (f Fired) String() string {
	name := f.Name
	if f.Namespace != "" {
		name = strings.TrimSuffix(f.Namespace+"/"+f.Name, "/")
	}
	words := []string{"fault", f.Spec.Kind, "", f.Verb, f.Resource, name, f.Type}
	if f.Version != "" {
		words = append(words, "rv "+f.Version)
	}
	b := append(noderoll.AppendStamp(nil, f.At), ' ')
	for i, w := range words {
		if w != "" || i == 2 {
			b = append(b, " "+noderoll.OneLine(w)...)
		}
	}
	return strings.TrimRight(string(b), " ")
}
