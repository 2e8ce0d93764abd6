package spec

import (
	"fmt"
	"slices"
	"strconv"
)

// check says what is wrong with a value of the parameter, or "".
func (p *Parameter) check(text string) (wanted string) {
	switch p.Type {
	case TypeBool:
		if text != "true" && text != "false" {
			return "true or false"
		}
		return ""
	case TypeEnum:
		if !slices.Contains(p.Values, text) {
			return list(p.Values)
		}
		return ""
	case TypeString:
		if !isLine(text) {
			return forms["line"].wanted
		}
		return ""
	}
	wanted = p.Type.wanted(p.bounds())
	switch {
	case !p.Type.fits(text),
		p.Min != "" && p.Type.compare(text, string(p.Min)) < 0,
		p.Max != "" && p.Type.compare(text, string(p.Max)) > 0:
		return wanted
	}
	return ""
}

// ordered reports whether values of the type have a least and a greatest.
func (t ParameterType) ordered() bool {
	return t == TypeInt || t == TypeDuration || t == TypePercent || t == TypeQuantity
}

// bounds are the least and the greatest value in words, with a space before them.
func (p *Parameter) bounds() string {
	switch {
	case p.Min != "" && p.Max != "":
		return fmt.Sprintf(" from %s to %s", p.Min, p.Max)
	case p.Min != "":
		return fmt.Sprintf(" of at least %s", p.Min)
	case p.Max != "":
		return fmt.Sprintf(" of at most %s", p.Max)
	}
	return ""
}

func (t ParameterType) wanted(bounds string) string {
	switch t {
	case TypeInt:
		return "a whole number" + bounds
	case TypeDuration:
		return "a duration" + bounds + ", such as 90s or 1h30m"
	case TypePercent:
		return "a percentage" + bounds + ", such as 33%"
	}
	return "a quantity" + bounds + ", such as 100m or 128Mi"
}

// fits reports whether text is a value of an ordered type.
func (t ParameterType) fits(text string) (ok bool) {
	switch t {
	case TypeInt:
		return decimal.MatchString(text)
	case TypeDuration:
		_, ok = duration(text)
	case TypePercent:
		_, ok = percent(text)
	case TypeQuantity:
		_, ok = quantity(text)
	}
	return ok
}

// compare compares two values of an ordered type. What isn't one counts as zero.
func (t ParameterType) compare(a, b string) int {
	number := func(text string) (n int64) {
		switch t {
		case TypeInt:
			if v, err := strconv.ParseInt(text, 10, 64); err == nil {
				n = v
			}
		case TypeDuration:
			d, _ := duration(text)
			n = int64(d)
		case TypePercent:
			p, _ := percent(text)
			n = int64(p)
		}
		return n
	}
	if t == TypeQuantity {
		x, _ := quantity(a)
		y, _ := quantity(b)
		return x.Cmp(y)
	}
	x, y := number(a), number(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// node returns a value of the parameter as a file would have it.
func (p *Parameter) node(text string, line int) *node {
	n := &node{kind: isText, line: line, text: text, ref: "$(" + p.Name + ")"}
	switch p.Type {
	case TypeInt:
		n.kind = isNumber
	case TypeBool:
		n.kind = isBool
	}
	return n
}
