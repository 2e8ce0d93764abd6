package recorder

import "k8s.io/apimachinery/pkg/util/resourceversion"

// newer reports whether the version a is above b. Versions of one resource
// are compared as integers of any length (KEP-5504). Where a server hands out
// something else, nothing is known about the order and a counts as newer:
// recording an event twice can be seen on the tape, losing one can't.
func newer(a, b string) bool {
	if b == "" || b == "0" {
		return true
	}
	c, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return a != b
	}
	return c > 0
}

// highest returns the newer of two versions.
func highest(a, b string) string {
	if a != "" && newer(a, b) {
		return a
	}
	return b
}
