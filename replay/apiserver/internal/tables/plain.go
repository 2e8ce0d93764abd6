package tables

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// created is the printer of the built-in resources that have no columns of their own: roles, customresourcedefinitions
// and so on.
func created() *Printer {
	return typed(func(object *metav1.PartialObjectMetadata, _ time.Time) []any {
		return []any{object.Name, stamp(object.CreationTimestamp)}
	}, nameColumn(), createdColumn())
}

// aged is the printer of the resources whose only column is their age.
func aged() *Printer {
	return typed(func(object *metav1.PartialObjectMetadata, now time.Time) []any {
		return []any{object.Name, since(object.CreationTimestamp, now)}
	}, nameColumn(), ageColumn())
}
