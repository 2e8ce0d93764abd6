package kubejson

import "github.com/nodesim/nodesim/internal/rawjson"

// Controller is the owner reference of the object that manages this one (metav1.GetControllerOf), nil where there is none.
func Controller(object []byte) []byte {
	for ref := range rawjson.Elements(rawjson.Get(object, "metadata", "ownerReferences")) {
		if string(rawjson.Get(ref, "controller")) == "true" {
			return ref
		}
	}
	return nil
}
