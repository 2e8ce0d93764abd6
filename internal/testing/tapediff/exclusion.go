package tapediff

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxExclusions bounds how long a list of exclusions may be.
const MaxExclusions = 30

// The components of an [Exclusion] that represent what is no Event.
const (
	Conditions = "conditions" // Reason is the type of a condition, or a condition's reason
	Taints     = "taints"     // Reason is KEY:EFFECT
	Feed       = "feed"       // Reason is a kind of entry, such as blocked
	Ends       = "ends"       // Reason is how pods have ended, such as [Unbound]
)

// Unbound is the end of pods that were deleted before they had a node.
const Unbound = "deleted before they had a node"

// An Exclusion says that one kind of fact is not compared, and why it can't be.
type Exclusion struct {
	Kind      string // of the object that it is about: Node
	Reason    string // of an Event; or what Conditions, Taints and Feed say
	Component string // which reported the Event: kubelet; or Conditions, Taints, Feed or Ends
	Source    string // why the two can't agree, with the place that proves it
}

func (e Exclusion) String() string { return e.Kind + " " + e.Reason + " " + e.Component }

// CheckExclusions refuses a list that is too long, or has a row twice or without its source.
func CheckExclusions(rows []Exclusion) error {
	if len(rows) > MaxExclusions {
		return fmt.Errorf("exclusions: found %d rows, want at most %d: fix what differs instead", len(rows), MaxExclusions)
	}
	for i, row := range rows {
		if row.Kind == "" || row.Reason == "" || row.Component == "" || strings.TrimSpace(row.Source) == "" {
			return fmt.Errorf("exclusions: row %d (%s): want kind, reason, component and source", i+1, row)
		}
		if slices.ContainsFunc(rows[:i], func(r Exclusion) bool { return r.String() == row.String() }) {
			return fmt.Errorf("exclusions: row %d (%s): found it twice, want it once", i+1, row)
		}
	}
	return nil
}

// Unused is an error that names the rows which none of the comparisons has needed: a list of exclusions must not be
// longer than what differs.
func Unused(rows []Exclusion, reports ...Report) error {
	var all []error
	for _, row := range rows {
		used := slices.ContainsFunc(reports, func(r Report) bool { return r.Used[row] > 0 })
		if !used {
			all = append(all, fmt.Errorf("exclusions: row %s: found nothing that it excludes, want it removed", row))
		}
	}
	return errors.Join(all...)
}

// exclusionCounter counts what is excluded.
type exclusionCounter struct {
	rows []Exclusion
	used map[Exclusion]int
}

// excludesCondition reports whether a condition is excluded, by its type or by its reason.
func (l *exclusionCounter) excludesCondition(kind, typ, reason string) bool {
	return l.excludes(kind, typ, Conditions) || l.excludes(kind, reason, Conditions)
}

// excludes reports whether a fact is excluded, and counts it.
func (l *exclusionCounter) excludes(kind, reason, component string) bool {
	for _, row := range l.rows {
		if row.Kind == kind && row.Reason == reason && row.Component == component {
			l.used[row]++
			return true
		}
	}
	return false
}
