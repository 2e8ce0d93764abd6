package tables

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

// object is an object whose cells columns.tsv names: its metadata, and its fields as JSON has them.
//
// Fields are named by paths, as in .spec.template.spec.containers[*].name. A field that is missing or null is empty; one
// that isn't of the type that a cell wants makes the row unreadable.
type object struct {
	metav1.ObjectMeta
	fields map[string]any
	now    time.Time
	err    error // the first field of another type
}

func readObject(raw []byte, now time.Time) (*object, error) {
	var head metav1.PartialObjectMetadata
	if err := kubejson.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	o := &object{ObjectMeta: head.ObjectMeta, now: now}
	return o, kubejson.Unmarshal(raw, &o.fields)
}

// all returns the values at a path: one, or one for each element of the lists that [*] goes through. Missing values are
// nil.
func (o *object) all(path string) []any {
	values := []any{o.fields}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		name, each := strings.CutSuffix(step, "[*]")
		var found []any
		for _, value := range values {
			member := mustBe[map[string]any](o, path, value)[name]
			if each {
				found = append(found, mustBe[[]any](o, path, member)...)
			} else {
				found = append(found, member)
			}
		}
		values = found
	}
	return values
}

// mustBe returns the value as a T, or nothing where it is missing or of another type.
func mustBe[T any](o *object, path string, value any) (t T) {
	t, ok := value.(T)
	if !ok && value != nil && o.err == nil {
		o.err = fmt.Errorf("%s: found %T, want %T", path, value, t)
	}
	return t
}

// get returns the field at a path without [*], or the fallback where it is missing.
func get[T any](o *object, path string, fallback T) T {
	value := o.all(path)[0]
	if value == nil {
		return fallback
	}
	return mustBe[T](o, path, value)
}

// read decodes the field at a path without [*].
func read[T any](o *object, path string) (t T) {
	raw, err := json.Marshal(o.all(path)[0])
	if err == nil {
		err = kubejson.Unmarshal(raw, &t)
	}
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("%s: %w", path, err)
	}
	return t
}

// text returns the string at a path, or the fallback where it is missing.
func (o *object) text(path, fallback string) string { return get(o, path, fallback) }

// has reports whether the field at a path is there.
func (o *object) has(path string) bool { return o.all(path)[0] != nil }

// list returns the strings at a path with [*]; those that are missing are empty.
func (o *object) list(path string) (words []string) {
	for _, value := range o.all(path) {
		words = append(words, mustBe[string](o, path, value))
	}
	return words
}

// condition holds what cells show of the conditions of all kinds.
type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	Reason             string      `json:"reason"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

func (c condition) isTrue() bool { return c.Status == string(metav1.ConditionTrue) }

func (o *object) conditions() []condition { return read[[]condition](o, ".status.conditions") }
