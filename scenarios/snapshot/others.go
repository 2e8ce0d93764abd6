package snapshot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// effects are what objects of kinds that no file has do to a roll in the cluster, and not here.
var effects = map[string]string{
	"HorizontalPodAutoscaler":        "workloads keep the replicas that they have, whatever their load is",
	"ScaledObject":                   "workloads keep the replicas that they have, whatever their load is",
	"VerticalPodAutoscaler":          "pods keep the requests that they have",
	"NodePool":                       "their disruption budgets, limits and requirements bound no roll here",
	"ResourceQuota":                  "no namespace has a quota here",
	"LimitRange":                     "pods have the requests of their own spec alone",
	"StorageClass":                   "a new volume is where its pod is, as with volumeBindingMode: WaitForFirstConsumer",
	"ValidatingWebhookConfiguration": "webhooks refuse nothing here",
	"MutatingWebhookConfiguration":   "webhooks change nothing here",
}

// addOther counts an object of a kind that no file has. Events are no part of a cluster as it is, and of PriorityClasses the values count.
func (r *Reading) addOther(apiVersion, kind string, raw []byte) error {
	switch {
	case kind == "Event":
		return nil
	case kind == "PriorityClass" && groupOf(apiVersion) == "scheduling.k8s.io":
		var c struct {
			meta  `json:"metadata"`
			Value int32 `json:"value"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return fmt.Errorf("PriorityClass %s: %w", c.called(), err)
		}
		r.classes[c.Name] = c.Value
		return nil
	}
	r.others[kind]++
	return nil
}

// counted are the lines about objects of which only the number is known.
func (d *draft) counted() (lines []string) {
	rest := maps.Clone(d.others)
	for _, kind := range slices.Sorted(maps.Keys(d.others)) {
		if effect := effects[kind]; effect != "" {
			lines = append(lines, fmt.Sprintf("objects of the kind %s: %d; %s", kind, d.others[kind], effect))
			delete(rest, kind)
		}
	}
	if n := total(rest); n > 0 {
		lines = append(lines, fmt.Sprintf("objects of other kinds: %d%s; no file has them", n, d.byKind(rest)))
	}
	if n := total(d.nameless); n > 0 {
		lines = append(lines, fmt.Sprintf("objects without a name: %d%s; they aren't here", n, d.byKind(d.nameless)))
	}
	switch {
	case d.future > 0 && d.newest.IsZero() && d.At.IsZero():
		lines = append(lines, fmt.Sprintf("times ahead of this machine's clock: %d; all are, so ages count up to the newest of them", d.future))
	case d.future > 0:
		lines = append(lines, fmt.Sprintf("times ahead of this machine's clock: %d; they don't say when the cluster was read, and what began then has no age", d.future))
	}
	return lines
}

func total(counts map[string]int) (n int) {
	for _, some := range counts {
		n += some
	}
	return n
}

// byKind names the kinds with the most objects. Those of an anonymous file may be the user's own and aren't named.
func (d *draft) byKind(counts map[string]int) string {
	if len(d.Key) > 0 || len(counts) == 0 {
		return ""
	}
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, kind := range kinds[:min(len(kinds), 2*shown)] {
		parts = append(parts, fmt.Sprintf("%s %d", kind, counts[kind]))
	}
	if len(kinds) > 2*shown {
		parts = append(parts, "others")
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
