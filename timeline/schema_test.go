package timeline

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func schemaOf(t testing.TB, text []byte) func(line []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(line []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			return err
		}
		return s.Validate(v)
	}
}

func TestSchemaTakesWhatTheWriterWrites(t *testing.T) {
	header, event := schemaOf(t, HeaderSchema()), schemaOf(t, EventSchema())
	events := complete(sampleEvents(11, 400))
	events[10].Extra = []Member{{Name: "by", Value: []byte(`"hand"`)}}
	events = append(events[:20:20], append([]Event{{At: events[19].At, Type: "NOTE", Name: "later"}}, events[20:]...)...)
	lines := strings.Split(strings.TrimSpace(string(formatted(t, tape(t, events), StyleJSON))), "\n")
	if err := header([]byte(lines[0])); err != nil {
		t.Errorf("header %s: %v", lines[0], err)
	}
	for _, line := range lines[1:] {
		if err := event([]byte(line)); err != nil {
			t.Fatalf("line %s: %v", line, err)
		}
	}
}

// What a Reader refuses for its form, the schema refuses, and the other way
// round, but for misspelt types.
func TestSchemaAgreesWithTheReader(t *testing.T) {
	event := schemaOf(t, EventSchema())
	for line, good := range map[string]bool{
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5","object":{}}`:            true,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":5,"object":{}}`:              true,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5"}`:                        false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5","patch":{}}`:             false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5","object":{},"patch":{}}`: false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"5","object":[]}`:            false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"","rv":"5","object":{}}`:             false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","rv":"","object":{}}`:             false,
		`{"at":"0s","type":"ADDED","resource":"nodes","rv":"5","object":{}}`:                       false,
		`{"at":"0s","type":"ADDED","name":"n","rv":"5","object":{}}`:                               false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":"n","object":{}}`:                     false,
		`{"at":"0s","type":"ADDED","resource":"nodes","name":7,"rv":"5","object":{}}`:              false,
		`{"type":"MARK","name":"m"}`:                            false,
		`{"at":"0s","name":"m"}`:                                false,
		`{"at":"1m","type":"MARK","name":"m"}`:                  false,
		`{"at":"-1s","type":"MARK","name":"m"}`:                 false,
		`{"at":"1.s","type":"MARK","name":"m"}`:                 false,
		`{"at":1,"type":"MARK","name":"m"}`:                     false,
		`{"at":"1.123456789s","type":"MARK","name":"m"}`:        true,
		`{"at":"0s","type":"MARK"}`:                             false,
		`{"at":"0s","type":"SYNC","resource":"nodes","rv":"5"}`: true,
		`{"at":"0s","type":"SYNC","resource":"nodes"}`:          false,
		`{"at":"0s","type":"SYNC","resource":"nodes","rv":4.5}`: false,
		`{"at":"0s","type":"SYNC","resource":"nodes","rv":-4}`:  false,
		`{"at":"0s","type":"GAP","resource":"nodes"}`:           true,
		`{"at":"0s","type":"GAP"}`:                              false,
		`{"at":"0s","type":"END","events":1}`:                   true,
		`{"at":"0s","type":"END"}`:                              false,
		`{"at":"0s","type":"END","events":0}`:                   false,
		`{"at":"0s","type":"END","events":"1"}`:                 false,
		`{"at":"0s","type":"added","resource":"nodes"}`:         false,
		`{"at":"0s","type":""}`:                                 false,
		`{"at":"0s","type":7}`:                                  false,
		`{"at":"0s","type":"NOTE"}`:                             true,
		`{"at":"0s","type":"NOTE","anything":[{}]}`:             true,
		`{"at":"0s","type":"NOTE","object":7}`:                  false,
		`[]`:                                                    false,
		`7`:                                                     false,
	} {
		bySchema := event([]byte(line))
		_, _, byReader := drain([]byte(head + "--- " + line + "\n"))
		if (bySchema == nil) != good || (byReader == nil) != good {
			t.Errorf("%s\nschema: %v\nreader: %v\nwant good: %v", line, bySchema, byReader, good)
		}
	}
	for _, patch := range []string{`{"kind":"Pod"}`, `{"apiVersion":"v2"}`, `{"metadata":{"uid":"v"}}`, `{"metadata":{"resourceVersion":"7"}}`, `{"metadata":null}`} {
		line := `{"at":"1s","type":"MODIFIED","resource":"nodes","name":"n","rv":"6","patch":` + patch + `}`
		_, _, byReader := drain([]byte(head + added + "--- " + line + "\n"))
		if bySchema := event([]byte(line)); bySchema == nil || byReader == nil {
			t.Errorf("%s\nschema: %v\nreader: %v\nwant neither to take it", line, bySchema, byReader)
		}
	}
}

func TestHeaderSchemaAgreesWithTheReader(t *testing.T) {
	header := schemaOf(t, HeaderSchema())
	for line, good := range map[string]bool{
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline"}`: true,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","metadata":{"name":"x","start":"2026-11-20T22:21:09.113Z","owner":1},"seed":7}`: true,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","metadata":{"start":"yesterday"}}`:                                              false,
		`{"apiVersion":"nodesim.dev/v2","kind":"Timeline"}`:                                                                               false,
		`{"apiVersion":"nodesim.dev/v1","kind":"Tape"}`:                                                                                   false,
		`{"kind":"Timeline"}`: false,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","resources":[{"group":"","version":"v1","kind":"Node","resource":"nodes"}]}`: true,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","resources":[{"version":"v1","resource":"nodes"}]}`:                          false,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","resources":"all"}`:                                                          false,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","redaction":["pods.spec.containers.env"]}`:                                   true,
		`{"apiVersion":"nodesim.dev/v1","kind":"Timeline","redaction":"all"}`:                                                          false,
		`[]`: false,
	} {
		bySchema := header([]byte(line))
		_, _, byReader := drain([]byte(line + "\n"))
		if (bySchema == nil) != good || (byReader == nil) != good {
			t.Errorf("%s\nschema: %v\nreader: %v\nwant good: %v", line, bySchema, byReader, good)
		}
	}
}
