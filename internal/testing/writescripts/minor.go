package writescripts

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// A Minor is a minor of Kubernetes 1: 34 is that of 1.34.3.
type Minor int

// String is the minor as Kubernetes writes it: 1.34.
func (m Minor) String() string { return "1." + strconv.Itoa(int(m)) }

// ServerMinor asks an API server for its minor.
func ServerMinor(ctx context.Context, config *rest.Config) (Minor, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, err
	}
	c := &Cluster{client: client, host: strings.TrimSuffix(config.Host, "/")}
	a, err := c.must(ctx, http.MethodGet, "/version", "", nil)
	if err != nil {
		return 0, err
	}
	m, err := readVersion(a.body)
	if err != nil {
		return 0, fmt.Errorf("GET %s/version: %w", c.host, err)
	}
	return m, nil
}

var released = regexp.MustCompile(`^v1\.(\d{1,3})\.\d`)

// readVersion returns the minor that the answer of an API server to /version names.
func readVersion(answer []byte) (Minor, error) {
	var version struct {
		Git string `json:"gitVersion"`
	}
	if err := json.Unmarshal(answer, &version); err != nil {
		return 0, fmt.Errorf("found %.100q: want JSON with a gitVersion: %w", answer, err)
	}
	parts := released.FindStringSubmatch(version.Git)
	if parts == nil {
		return 0, fmt.Errorf("found the gitVersion %q: want one such as v1.36.3; set KUBEBUILDER_ASSETS to the folder that make controlplane prints, "+
			"whose kube-apiserver knows its version", version.Git)
	}
	n, err := strconv.Atoi(parts[1])
	return Minor(n), err
}

// minors are those for which a row of known.tsv holds: what one of the spans has.
type minors []span

// A span has the minors from one to another, both included.
type span struct{ from, to Minor }

// anyLater is the end of a span that has none.
const anyLater = Minor(math.MaxInt)

func (all minors) has(m Minor) bool {
	return slices.ContainsFunc(all, func(s span) bool { return s.from <= m && m <= s.to })
}

var named = regexp.MustCompile(`^(<=|>=)?1\.(\d{1,3})$`)

// parseMinors reads the column minors: * for all of them, or 1.34, <=1.34 and >=1.37, with commas between several.
func parseMinors(text string) (minors, error) {
	if text == "*" {
		return minors{{0, anyLater}}, nil
	}
	var all minors
	for part := range strings.SplitSeq(text, ",") {
		is := named.FindStringSubmatch(part)
		if is == nil {
			return nil, fmt.Errorf("minors %q: found %q: want * for all, or 1.34, <=1.34 or >=1.34, with commas and no spaces between several", text, part)
		}
		n, err := strconv.Atoi(is[2])
		if err != nil {
			return nil, err
		}
		s := span{Minor(n), Minor(n)}
		switch is[1] {
		case "<=":
			s.from = 0
		case ">=":
			s.to = anyLater
		}
		all = append(all, s)
	}
	return all, nil
}
