package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// MaxVariants bounds what is compared at once.
const MaxVariants = 64

// Comparison is several plans of one roll, with the same seeds.
type Comparison struct {
	Variants []Variant `json:"variants"`
}

// Variant is one of several plans: what differs, as it was given, and the plan.
type Variant struct {
	Of   []string `json:"of"`
	Plan *Plan    `json:"plan"`
}

// Holds reports whether one of the variants ends by itself in every run, and violates no policy.
func (c *Comparison) Holds() bool {
	return slices.ContainsFunc(c.Variants, func(v Variant) bool { return v.Plan.Holds() })
}

// An Axis is a setting of the roll, or a change, and the values that are compared: maxUnavailable=1,2,33% or
// budget/shop/web:maxUnavailable=1,2.
type Axis struct {
	Name   string
	Values []string
}

// ParseAxis reads NAME=VALUE,VALUE. The name surge means maxSurge.
func ParseAxis(text string) (Axis, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" || values == "" {
		return Axis{}, fmt.Errorf("%.80q: want NAME=VALUE,VALUE such as maxUnavailable=1,2,33%%", text)
	}
	if name == "surge" {
		name = "maxSurge"
	}
	a := Axis{Name: name, Values: strings.Split(values, ",")}
	for i, v := range a.Values {
		if v == "" || slices.Index(a.Values, v) < i {
			return Axis{}, fmt.Errorf("%.80q: found the value %.80q: want each value once, and none that is empty", text, v)
		}
	}
	return a, nil
}

// with are the options with a value of the axis.
func (a *Axis) with(o Options, value string) (Options, error) {
	if !strings.Contains(a.Name, ":") {
		o.Roll = append(slices.Clone(o.Roll), spec.Setting{Name: a.Name, Value: value})
		return o, nil
	}
	change, err := spec.ParseChange(a.Name + "=" + value)
	o.WhatIf = append(slices.Clone(o.WhatIf), change)
	return o, err
}

// variants are the options of every combination of the axes' values.
func variants(o Options, axes []Axis) (all []Options, names [][]string, err error) {
	all, names = []Options{o}, [][]string{nil}
	for i := range axes {
		var next []Options
		var nextNames [][]string
		for k := range all {
			for _, v := range axes[i].Values {
				one, err := axes[i].with(all[k], v)
				if err != nil {
					return nil, nil, fmt.Errorf("plan: %w", err)
				}
				next, nextNames = append(next, one), append(nextNames, append(slices.Clone(names[k]), axes[i].Name+"="+v))
			}
		}
		if all, names = next, nextNames; len(all) > MaxVariants {
			return nil, nil, fmt.Errorf("plan: found more than %d combinations of values to compare: want fewer values", MaxVariants)
		}
	}
	return all, names, nil
}

// Compare plans the roll with every combination of the axes' values.
func Compare(ctx context.Context, f *scenarios.File, o Options, axes ...Axis) (*Comparison, error) {
	all, names, err := variants(o, axes)
	if err != nil {
		return nil, &OptionError{err}
	}
	files := make([]*scenarios.File, len(all))
	for i := range all { // all of them are looked at before the first one runs
		if files[i], err = Prepare(f, all[i]); err != nil {
			return nil, &OptionError{fmt.Errorf("%s: %w", strings.Join(names[i], " "), err)}
		}
	}
	if total := len(all) * runs(o); total > MaxRuns {
		return nil, &OptionError{fmt.Errorf("plan: %d runs of %d combinations: want at most %d in all", total, len(all), MaxRuns)}
	}
	ran := progress(o, len(all)*runs(o))
	c := &Comparison{}
	for i := range all {
		p, err := of(ctx, files[i], all[i], ran)
		if err != nil {
			return nil, err
		}
		c.Variants = append(c.Variants, Variant{names[i], p})
	}
	return c, nil
}
