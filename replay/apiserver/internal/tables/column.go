package tables

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// documented is an API type that carries the descriptions of its fields. Descriptions of columns are theirs wherever
// the API server takes them from there.
type documented interface{ SwaggerDoc() map[string]string }

// text is a column of strings. Type is the one that the API server declares, not always what it sends: it declares
// strings for
// some columns of integers.
func text(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

// integer is a column of int64.
func integer(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "integer", Description: description}
}

// boolean is a column of bool.
func boolean(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "boolean", Description: description}
}

// wide is a column that kubectl shows with -o wide alone.
func wide(column metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	column.Priority = 1
	return column
}

// identifier is a column of a name, which kubectl -o name would print.
func identifier(column metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	column.Format = "name"
	return column
}

func nameColumn() metav1.TableColumnDefinition {
	return identifier(text("Name", doc(metav1.ObjectMeta{}, "name")))
}

func ageColumn() metav1.TableColumnDefinition {
	return text("Age", doc(metav1.ObjectMeta{}, "creationTimestamp"))
}

// createdColumn is AGE of the tables that hold the time itself; the client makes an age of it, or doesn't.
func createdColumn() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: "Created At", Type: "date", Description: doc(metav1.ObjectMeta{}, "creationTimestamp")}
}
