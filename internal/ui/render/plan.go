package render

// wants is the number of rows a frame could fill.
type wants struct {
	images                  bool
	nodes, events, warnings int
	fill                    bool
}

// A plan says how many rows each part gets. The rows of a section don't count
// the line above them that names it.
type plan struct {
	title, images, progress, status bool
	nodes, events, warnings         int
	gaps                            gaps
	filler                          int // empty lines before the status line
}

// gaps are the sections that have an empty line before them.
type gaps struct{ nodes, events, warnings, status bool }

// What a section gets before any other gets more, and what it gets before the
// others are filled up.
const (
	fewNodes, fairNodes       = 3, 8
	fewEvents, fairEvents     = 3, 6
	fewWarnings, fairWarnings = 2, 3
)

// planFor divides a height. Parts come in the order of their use to a user
// who watches: first one line of each, then some rows, then air, then the rest.
func planFor(w wants, height int) plan {
	left := height
	take := func(n int) int {
		n = max(0, min(n, left))
		left -= n
		return n
	}
	line := func(wanted bool) bool { return wanted && take(1) == 1 }
	var p plan
	p.progress = line(true)
	p.title = line(true)
	p.status = line(true)
	p.images = line(w.images)

	open := func(rows *int, want, few int) {
		if want > 0 && left >= 2 {
			take(1) // its name
			*rows = take(min(want, few))
		}
	}
	open(&p.nodes, w.nodes, fewNodes)
	open(&p.events, w.events, fewEvents)
	open(&p.warnings, w.warnings, fewWarnings)

	p.gaps.nodes = line(p.nodes > 0)
	p.gaps.events = line(p.events > 0)
	p.gaps.warnings = line(p.warnings > 0)
	p.gaps.status = line(p.nodes > 0 && p.status)

	grow := func(rows *int, want, most int) {
		if *rows > 0 {
			*rows += take(min(want, most) - *rows)
		}
	}
	grow(&p.nodes, w.nodes, fairNodes)
	grow(&p.events, w.events, fairEvents)
	grow(&p.warnings, w.warnings, fairWarnings)
	grow(&p.nodes, w.nodes, w.nodes)
	grow(&p.warnings, w.warnings, w.warnings)
	grow(&p.events, w.events, w.events)
	if w.fill && p.status {
		p.filler = left
	}
	return p
}
