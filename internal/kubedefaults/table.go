package kubedefaults

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/json"
)

//go:embed defaults.tsv
var text string

// A rule is a line of the table.
type rule struct {
	path  []segment
	when  []condition
	value any
	from  []string             // of what the value is a copy
	of    string               // the type that is at the path
	code  func(map[string]any) // what fills in what is at the path
}

type segment struct {
	name       string
	each, make bool
}

type condition struct {
	path   []string
	not    bool
	values []any
}

// table holds the rules of each type.
var table = sync.OnceValue(func() map[string][]rule {
	t, err := parse(text)
	if err != nil {
		panic(err) // a test reads it
	}
	return t
})

func parse(text string) (map[string][]rule, error) {
	t := map[string][]rule{}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := append(strings.Split(line, "\t"), "")
		if len(f) < 4 || len(f) > 5 {
			return nil, fmt.Errorf("line %d: found %d fields: want type, path, value, perhaps when", n+1, len(f)-1)
		}
		r, err := parseRule(f[1], f[2], f[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		t[f[0]] = append(t[f[0]], r)
	}
	return t, nil
}

func parseRule(path, value, when string) (r rule, err error) {
	for _, name := range strings.FieldsFunc(path, isDot) {
		s := segment{}
		name, s.make = strings.CutSuffix(name, "+")
		s.name, s.each = strings.CutSuffix(name, "[*]")
		r.path = append(r.path, s)
	}
	for _, c := range strings.FieldsFunc(when, func(r rune) bool { return r == ',' }) {
		one := condition{}
		c, one.not = strings.CutPrefix(c, "!")
		name, values, has := strings.Cut(c, "=")
		one.path = strings.FieldsFunc(name, isDot)
		if has {
			for _, v := range strings.Split(values, "|") {
				one.values = append(one.values, v)
			}
		}
		r.when = append(r.when, one)
	}
	switch value[:1] {
	case "@":
		r.of = value[1:]
	case "=":
		r.from = strings.FieldsFunc(value[1:], isDot)
	case "!":
		if r.code = codes[value[1:]]; r.code == nil {
			err = fmt.Errorf("found no function %s", value[1:])
		}
	default:
		err = json.Unmarshal([]byte(value), &r.value)
	}
	return r, err
}

func isDot(r rune) bool { return r == '.' }
