package writescripts

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed scripts/*.txt
var files embed.FS

// A Script is what a client does to one cluster, a line for each step; step.go has the verbs.
type Script struct {
	Name  string // with the values of its parameters: deployment-scale/from=1/to=3
	Steps []string
}

// All returns every script, in the order of the files.
func All() ([]Script, error) {
	names, err := fs.Glob(files, "scripts/*.txt")
	if err != nil {
		return nil, err
	}
	var all []Script
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		some, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// A template is a script with parameters.
type template struct {
	name   string
	params []parameter
	steps  []string
}

type parameter struct {
	name   string
	values []string
}

// parse reads templates and fills in every combination of their parameters' values:
//
//	=== name
//	each from: 1 | 3
//	create Deployment web {spec: {replicas: $from}}
//
// A line that begins with a space continues the one before, and # begins a comment.
func parse(text string) ([]Script, error) {
	var all []*template
	lines := joined(text)
	for n, line := range lines {
		if line == "" {
			continue
		}
		if name, begins := strings.CutPrefix(line, "=== "); begins {
			all = append(all, &template{name: name})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("line %d: found %q: want === and the name of a script first", n+1, line)
		}
		t := all[len(all)-1]
		if of, is := strings.CutPrefix(line, "each "); is {
			name, values, ok := strings.Cut(of, ": ")
			if !ok {
				return nil, fmt.Errorf("line %d: found %q: want each NAME: VALUE | VALUE", n+1, line)
			}
			t.params = append(t.params, parameter{name, strings.Split(values, " | ")})
			continue
		}
		t.steps = append(t.steps, line)
	}
	var scripts []Script
	for _, t := range all {
		scripts = append(scripts, t.scripts()...)
	}
	return scripts, nil
}

// joined are the lines of a text, each with those that continue it, in its place. Comments and what was joined are empty.
func joined(text string) []string {
	lines := strings.Split(text, "\n")
	last := 0
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			lines[i] = ""
		case line[0] == ' ':
			lines[last] += " " + strings.TrimSpace(line)
			lines[i] = ""
		default:
			lines[i], last = strings.TrimSpace(line), i
		}
	}
	return lines
}

// scripts are the template's, one for each combination of values.
func (t *template) scripts() []Script {
	all := []Script{{Name: t.name, Steps: t.steps}}
	for _, p := range t.params {
		var next []Script
		for _, s := range all {
			for i, v := range p.values {
				is := Script{Name: s.Name + "/" + p.name + "=" + label(v, i), Steps: slices.Clone(s.Steps)}
				for k := range is.Steps {
					is.Steps[k] = strings.ReplaceAll(is.Steps[k], "$"+p.name, strings.TrimSpace(v))
				}
				next = append(next, is)
			}
		}
		all = next
	}
	return all
}

// label is how a script's name has a value: by its place where it is long.
func label(value string, place int) string {
	value = strings.TrimSpace(value)
	if len(value) > 12 || strings.ContainsAny(value, " {}\"'/") {
		return fmt.Sprint(place)
	}
	return value
}
