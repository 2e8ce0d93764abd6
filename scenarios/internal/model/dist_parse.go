package model

import (
	"fmt"
	"strings"
	"time"
)

// String writes d as ParseDist reads it: "fixed(1m0s)", "uniform(15s, 1m0s)", "triangular(1s, 4s, 6s)",
// "lognormal(38s, 1m5s)", each followed by " clip(0s, 15m0s)" where it is clipped.
func (d Dist) String() string {
	var text string
	switch d.shape {
	case uniform:
		text = fmt.Sprintf("uniform(%s, %s)", time.Duration(d.a), time.Duration(d.b))
	case triangular:
		text = fmt.Sprintf("triangular(%s, %s, %s)", time.Duration(d.a), time.Duration(d.b), time.Duration(d.c))
	case lognormal:
		text = fmt.Sprintf("lognormal(%s, %s)", time.Duration(d.a), time.Duration(d.c))
	default:
		text = fmt.Sprintf("fixed(%s)", time.Duration(d.a))
	}
	if d.clipped {
		text += fmt.Sprintf(" clip(%s, %s)", time.Duration(d.lo), time.Duration(d.hi))
	}
	return text
}

// ParseDist reads a Dist as a scenario file has it: "45s" or "fixed(45s)", "uniform(A, B)", "triangular(LEAST, MODE,
// MOST)", "lognormal(MEDIAN, P95)", and " clip(LEAST, MOST)" after any of them. Durations are Go's, "1m30s", from 0
// to ten years, and not in the wrong order. The error says in one line what was found and what is wanted.
func ParseDist(text string) (Dist, error) {
	name, args, rest, err := parseCall(text)
	if err != nil {
		return Dist{}, err
	}
	d, err := distOf(name, args)
	if err != nil || rest == "" {
		return d, err
	}
	name, args, rest, err = parseCall(rest)
	if err != nil {
		return Dist{}, err
	}
	if name != "clip" || rest != "" {
		return Dist{}, fmt.Errorf("duration %q: want nothing after it, or clip(LEAST, MOST) once", text)
	}
	if err := ordered(name, args, 2); err != nil {
		return Dist{}, err
	}
	return d.Clip(args[0], args[1]), nil
}

func distOf(name string, args []time.Duration) (Dist, error) {
	switch name {
	case "fixed":
		if err := ordered(name, args, 1); err != nil {
			return Dist{}, err
		}
		return Fixed(args[0]), nil
	case "uniform":
		if err := ordered(name, args, 2); err != nil {
			return Dist{}, err
		}
		return Uniform(args[0], args[1]), nil
	case "triangular":
		if err := ordered(name, args, 3); err != nil {
			return Dist{}, err
		}
		return Triangular(args[0], args[1], args[2]), nil
	case "lognormal":
		if err := ordered(name, args, 2); err != nil {
			return Dist{}, err
		}
		if args[0] == 0 && args[1] > 0 {
			return Dist{}, fmt.Errorf("lognormal(0s, %s): want a median above 0", args[1])
		}
		return Lognormal(args[0], args[1]), nil
	}
	return Dist{}, fmt.Errorf("duration %s(…): want fixed, uniform, triangular or lognormal", name)
}

func ordered(name string, args []time.Duration, want int) error {
	if len(args) != want {
		return fmt.Errorf("%s with %d durations: want %d", name, len(args), want)
	}
	for i := 1; i < len(args); i++ {
		if args[i] < args[i-1] {
			return fmt.Errorf("%s: %s after %s: want its durations in rising order", name, args[i], args[i-1])
		}
	}
	return nil
}

// parseCall reads "name(1s, 2s)", or a bare duration as fixed, and returns the rest.
func parseCall(text string) (name string, args []time.Duration, rest string, err error) {
	text = strings.TrimSpace(text)
	name, inner, called := strings.Cut(text, "(")
	if !called {
		name, inner = "fixed", text
	} else {
		var closed bool
		if inner, rest, closed = strings.Cut(inner, ")"); !closed {
			return "", nil, "", fmt.Errorf("duration %q: want a closing parenthesis", text)
		}
	}
	for part := range strings.SplitSeq(inner, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil {
			return "", nil, "", fmt.Errorf("duration %q: %q: want a duration such as 1m30s, or a distribution such as lognormal(38s, 65s)", text, strings.TrimSpace(part))
		}
		if d < 0 || d > longest {
			return "", nil, "", fmt.Errorf("duration %q: %s: want 0s to %s", text, d, longest)
		}
		args = append(args, d)
	}
	return strings.TrimSpace(name), args, strings.TrimSpace(rest), nil
}
