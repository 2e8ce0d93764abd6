package simulate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// List writes a line for each scenario.
func List(w io.Writer, all []scenarios.Scenario) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(table, "%s\t%s\n", s.Name, noderoll.OneLine(s.About))
	}
	return table.Flush()
}

// Describe writes what happens in a scenario, and its parameters.
func Describe(out io.Writer, s scenarios.Scenario) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %s\n", s.Name, noderoll.OneLine(s.About))
	var parameters []scenarios.Parameter
	if s.Document != nil {
		for _, paragraph := range strings.Split(s.Document.Metadata.Description, "\n\n") {
			if text := wrapped(paragraph, 80); text != "" {
				fmt.Fprintf(w, "\n%s", text)
			}
		}
		parameters = s.Document.Parameters
	}
	if len(parameters) == 0 {
		fmt.Fprintln(w, "\nNothing of it can be --set.")
		return w.Flush()
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "--set\tdefault\ttakes\twhat it is")
	for _, p := range parameters {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name, noderoll.OneLine(string(p.Default)), noderoll.OneLine(takes(p)), noderoll.OneLine(p.Doc))
	}
	_ = table.Flush() // into w, which keeps the error
	return w.Flush()
}

// takes says which values a parameter has.
func takes(p scenarios.Parameter) string {
	switch {
	case p.Type == spec.TypeEnum:
		return strings.Join(p.Values, "|")
	case p.Type == spec.TypeBool:
		return "true|false"
	case p.Min != "" && p.Max != "":
		return fmt.Sprintf("%s %s to %s", p.Type, p.Min, p.Max)
	case p.Min != "":
		return fmt.Sprintf("%s from %s", p.Type, p.Min)
	case p.Max != "":
		return fmt.Sprintf("%s up to %s", p.Type, p.Max)
	}
	return string(p.Type)
}

// wrapped breaks a paragraph into lines of at most width characters. Nothing in
// it acts on a terminal.
func wrapped(paragraph string, width int) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(noderoll.OneLine(paragraph)) {
		n := len([]rune(word))
		switch {
		case line == 0:
		case line+1+n > width:
			b.WriteByte('\n')
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += n
	}
	if line > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// JSON returns what List and Describe tell, for programs: an array of scenarios.
// The values of a parameter are texts, as --set takes them.
func JSON(all []scenarios.Scenario) []byte {
	type parameter struct {
		Name    string   `json:"name"`
		Type    string   `json:"type"`
		Default string   `json:"default"`
		Min     string   `json:"min,omitempty"`
		Max     string   `json:"max,omitempty"`
		Values  []string `json:"values,omitempty"`
		Doc     string   `json:"doc"`
	}
	type scenario struct {
		Name        string      `json:"name"`
		Title       string      `json:"title"`
		Description string      `json:"description,omitempty"`
		Parameters  []parameter `json:"parameters"`
	}
	list := []scenario{}
	for _, s := range all {
		one := scenario{Name: s.Name, Title: s.About, Parameters: []parameter{}}
		if s.Document != nil {
			one.Description = strings.TrimSpace(s.Document.Metadata.Description)
			for _, p := range s.Document.Parameters {
				one.Parameters = append(one.Parameters, parameter{
					p.Name, string(p.Type), string(p.Default), string(p.Min), string(p.Max), p.Values, p.Doc,
				})
			}
		}
		list = append(list, one)
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil { // strings alone
		return nil
	}
	return append(text, '\n')
}
