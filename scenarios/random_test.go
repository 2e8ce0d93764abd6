package scenarios_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/noderoll/invariant"
	"github.com/nodesim/nodesim/scenarios"
	filespec "github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// seeds is how many random runs each scenario gets: tens in all by default,
// thousands with NODESIM_SOAK.
var seeds = flag.Int("seeds", usualSeeds(), "random runs of each scenario")

func usualSeeds() int {
	if os.Getenv("NODESIM_SOAK") != "" {
		return 250
	}
	return 2
}

// TestInvariantsHold simulates every scenario with its defaults, and then with
// random parameters and seeds, and holds each tape against all invariants.
func TestInvariantsHold(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for n := range *seeds + 1 {
				chance := rand.New(rand.NewPCG(uint64(n), 42))
				seed := chance.Uint64N(1 << 30)
				var set []scenarios.Setting
				if n > 0 {
					set = settings(s.Document.Parameters, chance)
				}
				f, err := s.Document.Resolve(set, &seed)
				if err != nil {
					// Two parameters may contradict each other, and are refused.
					continue
				}
				tape := simulated(t, f)
				r, err := timeline.NewReader(bytes.NewReader(tape))
				if err != nil {
					t.Fatal(err)
				}
				o := inspect.CheckOptions(r.Header())
				report, err := inspect.Check(r, o)
				if err != nil {
					t.Fatalf("%v seed %d: %v", set, seed, err)
				}
				for i, v := range report.Violations {
					if i == 5 {
						break
					}
					t.Errorf("--seed %d %s: %s", seed, flags(set), v)
				}
			}
		})
	}
}

// TestInvariantsHoldOfSeveralContainers simulates every scenario with pods of three containers.
func TestInvariantsHoldOfSeveralContainers(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil || s.Name == "percentage" { // the same as surge, with many pods
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			f, err := s.Document.Resolve(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range f.Workloads {
				w := &f.Workloads[i]
				w.Containers = []filespec.Container{
					{Name: "proxy", Image: w.Image, ImageSize: w.ImageSize, Stop: w.Ready, Ready: w.Ready},
					{Name: "logs", Image: "registry.example/logs:1.0.0", Stop: filespec.Dist{Kind: filespec.DistNever}, Ready: w.Ready},
				}
			}
			found := violations(t, simulated(t, f))
			for _, v := range found[:min(5, len(found))] {
				t.Error(v)
			}
		})
	}
}

// violations holds a tape against all invariants.
func violations(t testing.TB, tape []byte) []invariant.Violation {
	t.Helper()
	r, err := timeline.NewReader(bytes.NewReader(tape))
	if err != nil {
		t.Fatal(err)
	}
	report, err := inspect.Check(r, inspect.CheckOptions(r.Header()))
	if err != nil {
		t.Fatal(err)
	}
	return report.Violations
}

// simulated returns the text of a scenario's tape.
func simulated(t testing.TB, f *scenarios.File) []byte {
	t.Helper()
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, f.Header())
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Simulate(w.WriteLine)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func flags(set []scenarios.Setting) string {
	var b strings.Builder
	for _, s := range set {
		fmt.Fprintf(&b, "--set %s=%s ", s.Name, s.Value)
	}
	return strings.TrimSpace(b.String())
}

// settings draws a value for some of the parameters. Numbers stay small: it is
// the combinations that find things.
func settings(parameters []scenarios.Parameter, chance *rand.Rand) []scenarios.Setting {
	var set []scenarios.Setting
	for _, p := range parameters {
		if chance.IntN(3) == 0 {
			continue
		}
		var value string
		switch p.Type {
		case filespec.TypeInt:
			least, _ := strconv.Atoi(string(p.Min))
			usual, _ := strconv.Atoi(string(p.Default))
			value = strconv.Itoa(least + chance.IntN(max(2, 2*(usual-least)+1)))
		case filespec.TypeBool:
			value = strconv.FormatBool(chance.IntN(2) == 0)
		case filespec.TypeEnum:
			value = p.Values[chance.IntN(len(p.Values))]
		case filespec.TypeDuration:
			least, _ := time.ParseDuration(string(p.Min))
			usual, _ := time.ParseDuration(string(p.Default))
			value = (least + time.Duration(chance.Int64N(int64(max(2*(usual-least), 10*time.Minute))))).Truncate(time.Second).String()
		case filespec.TypePercent:
			value = strconv.Itoa(1+chance.IntN(100)) + "%"
		default:
			continue
		}
		set = append(set, scenarios.Setting{Name: p.Name, Value: value})
	}
	return set
}

func decoded(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
