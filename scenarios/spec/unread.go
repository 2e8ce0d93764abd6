package spec

import (
	"slices"
	"strings"
)

// What of a cluster may be unread, in the words of LeftOut.
const (
	PodsOfCluster    = "pods"
	BudgetsOfCluster = "budgets"
)

// NotRead begins the line of [File].LeftOut which says that no object of a sort was read, though the cluster may have some.
func NotRead(of string) string { return of + ": not read: " }

// Unread reports whether lines of a LeftOut say that no object of a sort was read.
func Unread(leftOut []string, of string) bool {
	return slices.ContainsFunc(leftOut, func(line string) bool { return strings.HasPrefix(line, NotRead(of)) })
}
