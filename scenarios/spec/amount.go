package spec

import "strconv"

// An IntOrPercent is a number, or a percentage of another one, as Kubernetes
// has it in budgets and rolling updates.
type IntOrPercent struct {
	Value     int
	IsPercent bool
}

// Of returns the number out of a total: the number itself, or the percentage
// of the total, rounded up or down.
func (v IntOrPercent) Of(total int, up bool) int {
	if !v.IsPercent {
		return v.Value
	}
	part := int64(v.Value) * int64(total)
	if up {
		part += 99
	}
	return int(part / 100)
}

// String returns the number as a file has it: 3, or 33%.
func (v IntOrPercent) String() string {
	if v.IsPercent {
		return strconv.Itoa(v.Value) + "%"
	}
	return strconv.Itoa(v.Value)
}

// A Percent is a percentage in whole numbers, written 50%.
type Percent int

// String returns the percentage as a file has it.
func (p Percent) String() string { return strconv.Itoa(int(p)) + "%" }
