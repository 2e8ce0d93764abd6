package simulate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// IsFile reports whether a word means a scenario file, and not the name of a
// shipped scenario: "-" for standard input, what has a slash or ends in .yaml or
// .yml, and what is no shipped name and exists.
func IsFile(word string) bool {
	if word == "-" || strings.ContainsAny(word, `/`+string(os.PathSeparator)) ||
		strings.HasSuffix(word, ".yaml") || strings.HasSuffix(word, ".yml") {
		return true
	}
	if _, err := scenarios.Find(word); err == nil {
		return false
	}
	_, err := os.Stat(word)
	return err == nil
}

// Find returns the scenario that a word means: a shipped one, or that of a
// file; in is what "-" means.
func Find(word string, in io.Reader) (scenarios.Scenario, error) {
	if !IsFile(word) {
		return scenarios.Find(word)
	}
	name := word
	if word == "-" {
		name = "(standard input)"
	} else {
		f, err := os.Open(word)
		if err != nil {
			return scenarios.Scenario{}, fmt.Errorf("scenario file: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	// One byte more than is allowed is enough for Parse to refuse it.
	text, err := io.ReadAll(io.LimitReader(in, scenarios.MaxFile+1))
	if err != nil {
		return scenarios.Scenario{}, fmt.Errorf("scenario file: %w", err)
	}
	doc, err := scenarios.Parse(name, text)
	if err != nil {
		return scenarios.Scenario{}, err
	}
	return scenarios.Scenario{Name: doc.Metadata.Name, About: doc.Metadata.Title, Document: doc}, nil
}

// Timings reads a file of kind Timings.
func Timings(file string) (*spec.Measured, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("timings: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, scenarios.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("timings: %w", err)
	}
	m, err := spec.ParseTimings(file, text)
	if err != nil && isTape(text) {
		return nil, fmt.Errorf("timings %s: found a tape: want a file of kind Timings, such as nodesim calibrate makes of tapes", file)
	}
	return m, err
}

// isTape reports whether a text begins with the header of a tape, compressed or not.
func isTape(text []byte) bool {
	r, err := timeline.NewReader(bytes.NewReader(text))
	if err != nil {
		return false
	}
	_ = r.Close() // it was only read
	return true
}

// A Source is a scenario that is ready to be simulated.
type Source struct {
	Scenario scenarios.Scenario
	// File has the parameters' values. The demo has none.
	File *scenarios.File
}

// Resolve gives a scenario's parameters their values: settings are name=value,
// of two of one name the last holds; seed replaces the scenario's where it isn't
// nil. The errors are about settings and seed, as long as the scenario is one
// that Find has returned.
func Resolve(s scenarios.Scenario, settings []string, seed *uint64) (Source, error) {
	var set []scenarios.Setting
	for _, text := range settings {
		one, err := scenarios.ParseSetting(text)
		if err != nil {
			return Source{}, err
		}
		set = append(set, one)
	}
	if s.Document == nil {
		if len(set) > 0 || seed != nil {
			return Source{}, fmt.Errorf("scenario %s: it is always the same: want no --set and no --seed", s.Name)
		}
		return Source{Scenario: s}, nil
	}
	f, err := s.Document.Resolve(set, seed)
	if err != nil {
		return Source{}, err
	}
	return Source{Scenario: s, File: f}, nil
}

// Open opens the tape, which is simulated as it is read.
func (s Source) Open(opts ...timeline.ReadOption) (*timeline.Reader, error) {
	if s.File == nil {
		return s.Scenario.Open(nil, nil, opts...)
	}
	return s.File.Open(opts...)
}
