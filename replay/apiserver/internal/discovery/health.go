package discovery

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A check is one line of /healthz, /livez or /readyz.
type check struct {
	name string
	run  func() error
}

// checks returns what is checked, by the path that answers for all of it.
func checks(ready func() error) map[string][]check {
	ping := check{"ping", func() error { return nil }}
	all := map[string][]check{"/healthz": {ping}, "/livez": {ping}, "/readyz": {ping}}
	if ready != nil {
		all["/readyz"] = append(all["/readyz"], check{"replay", ready})
	}
	return all
}

// healthPath cuts a path into the endpoint and what follows it: "", or a slash and the name of a check.
func healthPath(path string) (endpoint, rest string, ok bool) {
	for _, endpoint := range []string{"/healthz", "/livez", "/readyz"} {
		if rest, ok := strings.CutPrefix(path, endpoint); ok && (rest == "" || rest[0] == '/') {
			return endpoint, rest, true
		}
	}
	return "", "", false
}

// serveHealth answers as k8s.io/apiserver, pkg/server/healthz does: any method, all checks or one, reasons withheld
// from the summary and told by the check itself.
func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request, endpoint, rest string) {
	if rest == "" {
		h.serveSummary(w, r, endpoint)
		return
	}
	i := slices.IndexFunc(h.checks[endpoint], func(c check) bool { return "/"+c.name == rest })
	if i < 0 {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if err := h.checks[endpoint][i].run(); err != nil {
		http.Error(w, fmt.Sprintf("internal server error: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprint(w, "ok")
}

func (h *Handler) serveSummary(w http.ResponseWriter, r *http.Request, endpoint string) {
	query := r.URL.Query()
	excluded := slices.Compact(slices.Sorted(slices.Values(query["exclude"])))
	var lines strings.Builder
	failed := false
	for _, c := range h.checks[endpoint] {
		if i := slices.Index(excluded, c.name); i >= 0 {
			excluded = slices.Delete(excluded, i, i+1)
			fmt.Fprintf(&lines, "[+]%s excluded: ok\n", c.name)
		} else if c.run() != nil {
			failed = true
			fmt.Fprintf(&lines, "[-]%s failed: reason withheld\n", c.name)
		} else {
			fmt.Fprintf(&lines, "[+]%s ok\n", c.name)
		}
	}
	if len(excluded) > 0 {
		quoted := make([]string, len(excluded))
		for i, name := range excluded {
			quoted[i] = fmt.Sprintf("%q", name)
		}
		fmt.Fprintf(&lines, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(quoted, ","))
	}
	what := strings.TrimPrefix(endpoint, "/")
	if failed {
		http.Error(w, lines.String()+what+" check failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !query.Has("verbose") {
		fmt.Fprint(w, "ok")
		return
	}
	fmt.Fprintf(w, "%s%s check passed\n", lines.String(), what)
}
