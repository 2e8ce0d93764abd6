package fakeclient

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/testing"
)

// admitted returns what the API calls the verb of a write.
func admitted(a testing.Action) string {
	if _, ok := a.(testing.DeleteCollectionActionImpl); ok {
		return "deletecollection"
	}
	return a.GetVerb()
}

// nameOf is the name that a write is about; "" where the server makes one up.
func nameOf(a testing.Action) string {
	switch a := a.(type) {
	case testing.CreateActionImpl:
		if m, err := meta.Accessor(a.GetObject()); err == nil && a.Name == "" {
			return m.GetName()
		}
		return a.Name
	case testing.UpdateActionImpl:
		if m, err := meta.Accessor(a.GetObject()); err == nil {
			return m.GetName()
		}
	case testing.PatchActionImpl:
		return a.GetName()
	case testing.DeleteActionImpl:
		return a.GetName()
	}
	return ""
}
