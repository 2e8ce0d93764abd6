package spec

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// What a file says is what the model draws from.
func TestDistIsTheModels(t *testing.T) {
	f := resolved(t, small+`timings:
  boot: {median: 38s, p95: 65s}
  register: {triangular: [1s, 4s, 6s]}
  becomeReady: {uniform: [10s, 20s]}
  statusSync: 1500ms
`)
	for name, want := range map[string]model.Dist{
		"boot":        model.Lognormal(38*time.Second, 65*time.Second),
		"register":    model.Triangular(time.Second, 4*time.Second, 6*time.Second),
		"becomeReady": model.Uniform(10*time.Second, 20*time.Second),
		"statusSync":  model.Fixed(1500 * time.Millisecond),
	} {
		if d, ok := f.Timings.Get(name); !ok || d.Model() != want {
			t.Errorf("%s: got %v, want %v", name, d.Model(), want)
		}
	}
	if d, ok := f.Timings.Get("reboot"); ok {
		t.Errorf("reboot is not in the file, got %v", d)
	}
	if got := (Dist{Kind: DistNever}).Model(); got != model.Fixed(MaxDuration) {
		t.Errorf("never: got %v, want %v", got, MaxDuration)
	}
}

// everything.yaml has every key but those that its strategy doesn't have.
func TestEverythingHasEveryKey(t *testing.T) {
	text := everything(t)
	var schema object
	if err := json.Unmarshal(FileSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case object:
			if properties, ok := v["properties"].(object); ok {
				for key := range properties {
					keys[key] = true
				}
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(schema)
	for key := range keys {
		if has := strings.Contains(text, key+":"); has == slices.Contains([]string{"maxSurge", "soak", "budget", "stopAfter"}, key) {
			t.Errorf("the key %s: in everything.yaml %t, want it %t", key, has, !has)
		}
	}
}

// Every action of the type is one that Action knows.
func TestEveryActionHasItsKey(t *testing.T) {
	for _, f := range fieldsOf(reflect.TypeFor[Fault]()) {
		var fault Fault
		v := reflect.ValueOf(&fault).Elem().FieldByIndex(f.index)
		if v.Kind() != reflect.Pointer {
			continue
		}
		v.Set(reflect.New(v.Type().Elem()))
		want := f.key
		if want == "if" || want == "at" || want == "when" || want == "after" {
			want = ""
		}
		if got := fault.Action(); got != want {
			t.Errorf("with %s: got the action %q, want %q", f.key, got, want)
		}
	}
}
