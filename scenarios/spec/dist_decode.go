package spec

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
)

const wantedDist = "a duration, {median: 38s, p95: 65s}, {uniform: [1s, 5s]} or {triangular: [1s, 4s, 6s]}"

// dist fills a distribution.
func (d *decoder) dist(n *node, p *Dist, path string, r rules) *Error {
	switch {
	case n.kind == isMapping:
		return d.shape(n, p, path)
	case n.kind == isText && n.text == "never" && r.form == "stop":
		*p = Dist{Kind: DistNever}
		return nil
	case n.kind != isText:
		return d.at(n, path, n.String(), wantedDist)
	}
	v, wanted := parseDuration(n, rules{})
	if _, ok := duration(n.text); !ok {
		wanted = wantedDist
		if r.form == "stop" {
			wanted = "never, " + wanted
		}
	}
	if wanted != "" {
		return d.at(n, path, n.String(), wanted)
	}
	*p = Dist{Kind: DistFixed, Median: v}
	return nil
}

// shape fills a distribution that is written as a mapping.
func (d *decoder) shape(n *node, p *Dist, path string) *Error {
	known := []string{"median", "p95", "uniform", "triangular"}
	for i, key := range n.keys {
		if !slices.Contains(known, key) {
			err := d.at(n.items[i], under(path, key), "unknown key", list(known))
			err.Remedy = didYouMean(phrase.Closest(key, known))
			return err
		}
	}
	uniform, triangular := n.get("uniform"), n.get("triangular")
	median, p95 := n.get("median"), n.get("p95")
	switch {
	case len(n.keys) == 1 && uniform != nil:
		v, err := d.ends(uniform, under(path, "uniform"), 2)
		if err != nil {
			return err
		}
		*p = Dist{Kind: DistUniform, Min: v[0], Max: v[1]}
		return nil
	case len(n.keys) == 1 && triangular != nil:
		v, err := d.ends(triangular, under(path, "triangular"), 3)
		if err != nil {
			return err
		}
		*p = Dist{Kind: DistTriangular, Min: v[0], Mode: v[1], Max: v[2]}
		return nil
	case len(n.keys) == 2 && median != nil && p95 != nil:
		return d.lognormal(median, p95, p, path)
	}
	return d.at(n, path, "a mapping of "+all(n.keys), wantedDist)
}

// lognormal fills a distribution of two quantiles. Without a median above
// zero there is no such distribution.
func (d *decoder) lognormal(median, p95 *node, p *Dist, path string) *Error {
	m, wanted := parseDuration(median, rules{min: "1ms"})
	if wanted != "" {
		return d.at(median, under(path, "median"), median.String(), wanted)
	}
	v, wanted := parseDuration(p95, rules{min: m.String()})
	if wanted != "" {
		return d.at(p95, under(path, "p95"), p95.String(), wanted)
	}
	*p = Dist{Kind: DistLognormal, Median: m, P95: v}
	return nil
}

// ends reads a list of as many durations as are wanted, none less than the one before.
func (d *decoder) ends(n *node, path string, count int) ([]time.Duration, *Error) {
	wanted := map[int]string{2: "two durations in rising order: [1s, 5s]", 3: "three durations in rising order: [1s, 4s, 6s]"}[count]
	if n.kind != isList || len(n.items) != count {
		return nil, d.at(n, path, n.String(), wanted)
	}
	var all []time.Duration
	for i, item := range n.items {
		v, bad := parseDuration(item, rules{})
		if bad != "" {
			return nil, d.at(item, path, item.String(), bad)
		}
		if i > 0 && v < all[i-1] {
			return nil, d.at(item, path, item.String()+" after "+short(all[i-1]), wanted)
		}
		all = append(all, v)
	}
	return all, nil
}

// timings fills the timings that a file overrides, in its order.
func (d *decoder) timings(n *node, p *Timings, path string) *Error {
	if n.kind != isMapping {
		return d.at(n, path, n.String(), "a mapping of timings")
	}
	for i, name := range n.keys {
		t := Timing{Name: name}
		at := under(path, name)
		d.lines[at] = n.items[i].line
		if err := d.dist(n.items[i], &t.Dist, at, rules{}); err != nil {
			return err
		}
		*p = append(*p, t)
	}
	return nil
}
