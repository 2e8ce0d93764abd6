// Command run is what `make e2e` runs: each conformance test of the binary in a process of its own against one cluster, several at
// a time and the serial ones alone. It writes a line for each: what became of it, its seconds, its name, and why it failed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// conformance selects the tests of the three groups.
const conformance = `\[sig-(apps|api-machinery|scheduling)\].*\[Conformance\]`

func main() {
	binary := flag.String("binary", "", "the test `binary` of test/e2e")
	kubeconfig := flag.String("kubeconfig", "", "of the cluster")
	out := flag.String("out", "", "the `file` of results")
	only := flag.String("only", "", "run tests whose name matches this `regexp` alone")
	workers := flag.Int("workers", 4, "how many tests run at a time")
	limit := flag.Duration("limit", 4*time.Minute, "how long a test may take")
	both := flag.Bool("compare", false, "count what passes in both of two files of results")
	flag.Parse()
	if *both {
		if flag.NArg() != 2 {
			fmt.Fprintf(os.Stderr, "e2e: found %d files, want two\n", flag.NArg())
			os.Exit(2)
		}
		if err := compare(os.Stdout, flag.Arg(0), flag.Arg(1)); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
			os.Exit(1)
		}
		return
	}
	r := runner{binary: *binary, kubeconfig: *kubeconfig, limit: *limit}
	if err := r.all(*out, *only, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

type runner struct {
	binary, kubeconfig string
	limit              time.Duration
}

// A spec is a test in the report of Ginkgo.
type spec struct {
	ContainerHierarchyTexts []string
	LeafNodeText            string
	LeafNodeType            string
	State                   string
	RunTime                 time.Duration
	Failure                 struct{ Message string }
}

func (s spec) name() string {
	return strings.Join(append(slices.Clone(s.ContainerHierarchyTexts), s.LeafNodeText), " ")
}

// all runs the tests and writes their results.
func (r runner) all(out, only string, workers int) error {
	names, err := r.names(only)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	results := map[string]string{}
	passed := 0
	one := func(name string) {
		line, ok := r.one(name)
		mu.Lock()
		defer mu.Unlock()
		results[name] = line
		if ok {
			passed++
		}
		fmt.Println(line)
	}
	next := make(chan string)
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for name := range next {
				one(name)
			}
		})
	}
	var serial []string
	for _, name := range names {
		if strings.Contains(name, "[Serial]") {
			serial = append(serial, name)
			continue
		}
		next <- name
	}
	close(next)
	work.Wait()
	for _, name := range serial {
		one(name)
	}
	var text bytes.Buffer
	for _, name := range names {
		fmt.Fprintln(&text, results[name])
	}
	fmt.Printf("%d of %d passed\n", passed, len(names))
	return os.WriteFile(out, text.Bytes(), 0o644)
}

// names lists the tests.
func (r runner) names(only string) ([]string, error) {
	specs, text, err := r.report(context.Background(), "--ginkgo.dry-run", "--ginkgo.focus="+conformance)
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w\n%s", err, text)
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range specs {
		if s.LeafNodeType == "It" && s.State == "passed" && wanted.MatchString(s.name()) {
			names = append(names, s.name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// one runs a test and returns its line.
func (r runner) one(name string) (line string, passed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), r.limit+time.Minute)
	defer cancel()
	specs, text, err := r.report(ctx, "--ginkgo.timeout="+r.limit.String(), "--ginkgo.grace-period=5s", "--ginkgo.focus="+regexp.QuoteMeta(name)+"$")
	state, reason, took := "none", "", time.Duration(0)
	for _, s := range specs {
		if s.State == "skipped" || s.LeafNodeType != "It" && s.Failure.Message == "" {
			continue
		}
		if state == "none" || s.State != "passed" {
			state, reason, took = s.State, s.Failure.Message, s.RunTime
		}
	}
	if state == "none" {
		reason = fmt.Sprint(err, ": ", lastLine(text))
	}
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > 600 {
		reason = reason[:600]
	}
	return strings.Join([]string{state, fmt.Sprintf("%.0f", took.Seconds()), name, reason}, "\t"), state == "passed"
}

// report runs the binary and reads what it reports.
func (r runner) report(ctx context.Context, args ...string) ([]spec, []byte, error) {
	folder, err := os.MkdirTemp("", "nodesim-e2e-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // nothing is to be kept of it
	file := filepath.Join(folder, "report.json")
	c := exec.CommandContext(ctx, r.binary, append([]string{
		"--kubeconfig=" + r.kubeconfig, "--provider=skeleton", "--ginkgo.no-color", "--ginkgo.json-report=" + file,
		"--minStartupPods=0", "--allowed-not-ready-nodes=100", "--dump-logs-on-failure=false",
	}, args...)...)
	text, failed := c.CombinedOutput()
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, text, failed
	}
	var suites []struct{ SpecReports []spec }
	if err := json.Unmarshal(b, &suites); err != nil || len(suites) == 0 {
		return nil, text, err
	}
	return suites[0].SpecReports, text, nil
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}
