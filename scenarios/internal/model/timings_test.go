package model

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/nodesim/nodesim/golden"
)

// get returns the duration of that name, and whether there is one.
// Every field has one name, every name one field.
func TestEveryTimingHasItsName(t *testing.T) {
	named := map[string]bool{}
	for _, n := range TimingNames() {
		if named[strings.ToLower(n.Name)] {
			t.Errorf("%s stands twice in the table", n.Name)
		}
		named[strings.ToLower(n.Name)] = true
		if unicode.IsUpper(rune(n.Name[0])) || n.Doc == "" || n.Evidence == "" {
			t.Errorf("%+v: want a small first letter, documentation and evidence", n)
		}
		var one Timings
		marked := Fixed(77 * time.Minute)
		if err := one.Set(n.Name, marked); err != nil {
			t.Error(err)
		}
		fields, changed := reflect.ValueOf(one), ""
		for i := range fields.NumField() {
			if fields.Field(i).Interface() == marked {
				changed += fields.Type().Field(i).Name
			}
		}
		if !strings.EqualFold(changed, n.Name) {
			t.Errorf("Set(%q) changed the field %q", n.Name, changed)
		}
		if got, ok := one.Get(n.Name); !ok || got != marked {
			t.Errorf("Get(%q) is %v, %v", n.Name, got, ok)
		}
	}
	fields := reflect.TypeFor[Timings]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; !named[strings.ToLower(name)] {
			t.Errorf("the field %s has no name in the table", name)
		}
	}
}

// The table in docs/scenarios.md is that of the code.
func TestDocsHaveTheTimings(t *testing.T) {
	golden.AssertPart(t, filepath.Join("..", "..", "..", "docs", "scenarios.md"), "timings", timingTable())
}

// timingTable writes all durations as a table in Markdown.
func timingTable() string {
	var out strings.Builder
	out.WriteString("| name | from … until | takes | known from |\n|---|---|---|---|\n")
	for _, table := range timingTables {
		for _, row := range table {
			takes := row.usual.String()
			for _, other := range row.unusual {
				who := strings.TrimSpace(string(other.provider) + " " + string(other.os))
				takes += fmt.Sprintf("; %s: %s", who, other.takes)
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", row.name, row.doc, takes, row.evidence)
		}
	}
	return out.String()
}

func TestSetRefusesAnUnknownName(t *testing.T) {
	var one Timings
	err := one.Set("bot", Dist{})
	if want := `timing "bot": no duration has this name`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, ok := one.Get("bot"); ok || one != (Timings{}) {
		t.Error("an unknown name is found, or changed something")
	}
}

func TestTimingsOfProviders(t *testing.T) {
	for _, c := range []struct {
		provider Provider
		os       OS
		name     string
		want     Dist
	}{
		{EKS, AL2023, "boot", Lognormal(38*time.Second, 65*time.Second).Clip(10*time.Second, 15*time.Minute)},
		{Karpenter, Bottlerocket, "boot", Lognormal(28*time.Second, 50*time.Second).Clip(10*time.Second, 15*time.Minute)},
		{EKS, AL2023, "evictionRetry", Fixed(5 * time.Second)},
		{KOps, Ubuntu, "rollerPoll", Fixed(15 * time.Second)},
		{CAPI, Ubuntu, "evictionRetry", Fixed(20 * time.Second)},
		{EKS, AL2023, "interruptionLead", Fixed(2 * time.Minute)},
		{"nobody", "none", "evictionRetry", Fixed(5 * time.Second)},
	} {
		all := DefaultTimings(c.provider, c.os)
		if got, ok := all.Get(c.name); !ok || got != c.want {
			t.Errorf("%s of %s with %s is %s, want %s", c.name, c.provider, c.os, got, c.want)
		}
	}
	if got := DefaultTimings(EKS, AL2023).For(Version{Minor: 31}).MonitorGrace; got != Fixed(40*time.Second) {
		t.Errorf("before 1.32 a node counts as unknown after %s, want 40s", got)
	}
}

// Without jitter every duration is its median; with it none leaves what a person would believe.
func TestDefaultTimingsAreSane(t *testing.T) {
	s := NewStream(1, "sane")
	for _, provider := range Providers() {
		for _, os := range OSes(provider) {
			all := DefaultTimings(provider, os)
			if all.Boot.Median() < 20*time.Second || all.Boot.Median() > 5*time.Minute || all.BecomeReady.Median() > time.Minute {
				t.Errorf("%s with %s boots in %s and is ready %s later", provider, os, all.Boot, all.BecomeReady)
			}
			for _, n := range TimingNames() {
				whole, _ := all.Get(n.Name)
				if got := whole.Scaled(0).Draw(&s); got != whole.Median() {
					t.Errorf("%s of %s with %s is %s without jitter, want the median %s", n.Name, provider, os, got, whole.Median())
				}
				for range 20 {
					if got := whole.Draw(&s); got > 24*time.Hour {
						t.Errorf("%s of %s with %s drew %s", n.Name, provider, os, got)
					}
				}
			}
		}
	}
}

func TestPullTransfer(t *testing.T) {
	for bytes, want := range map[int64]time.Duration{-5: 0, 0: 0, 40_000_000: time.Second, 1_000_000_000: 25 * time.Second, 1<<63 - 1: longest} {
		if got := PullTransfer(bytes); got != want {
			t.Errorf("%d bytes take %s, want %s", bytes, got, want)
		}
	}
}
