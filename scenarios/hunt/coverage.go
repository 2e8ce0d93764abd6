package hunt

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Coverage says what was tried: in how many cases some node was in a state when a fault began, by the strategy of the roll.
type Coverage struct {
	Strategies []string `json:"strategies"`
	Faults     []string `json:"faults"`
	States     []string `json:"states"`
	// Cells are those that were visited, in the order of the lists above; what isn't among them was never tried.
	Cells []Cell `json:"cells"`
	// Untried are these, in a Result as JSON: states by strategy and fault.
	Untried map[string]map[string][]string `json:"untried,omitempty"`
}

// A Cell is a strategy, a fault and a state of nodes, with the number of cases that visited it.
type Cell struct {
	Strategy string `json:"strategy"`
	Fault    string `json:"fault"`
	State    string `json:"state"`
	Cases    uint64 `json:"cases"`
}

// noRoll stands for the strategy of a file that rolls nothing.
const noRoll = "no roll"

// newCoverage is a Coverage of what a space can try, before anything was.
func newCoverage(s *variant.Space) Coverage {
	c := Coverage{Faults: append([]string{NoFault}, s.Faults...), Cells: []Cell{}}
	for _, one := range s.Strategies {
		c.Strategies = append(c.Strategies, string(one))
	}
	c.strategy(s.File)
	for i := range s.File.Faults {
		if action := s.File.Faults[i].Action(); action != "mark" && !slices.Contains(c.Faults, action) {
			c.Faults = append(c.Faults, action)
		}
	}
	for _, state := range variant.States() {
		c.States = append(c.States, string(state))
	}
	return c
}

func (c *Coverage) strategy(f *spec.File) {
	is := noRoll
	if f.Roll != nil {
		is = string(f.Roll.Strategy)
	}
	if !slices.Contains(c.Strategies, is) {
		c.Strategies = append(c.Strategies, is)
	}
}

// visit counts what one case has visited. The first known of the strategies were there before any case.
func (c *Coverage) visit(o *Outcome, known int) {
	strategy := o.strategy
	if strategy == "" {
		strategy = noRoll
	}
	c.learn(strategy, known) // a parameter may have chosen it
	for fault, states := range o.visited {
		for i, state := range c.States {
			if states&(1<<i) != 0 {
				c.count(Cell{strategy, fault, state, 1})
			}
		}
	}
}

// learn adds a strategy to those after the first known, by name: in whatever order cases are counted, the lists are the same.
func (c *Coverage) learn(strategy string, known int) {
	if slices.Contains(c.Strategies, strategy) {
		return
	}
	at, _ := slices.BinarySearch(c.Strategies[known:], strategy)
	c.Strategies = slices.Insert(c.Strategies, known+at, strategy)
}

// count adds to a cell, which keeps its place in the order.
func (c *Coverage) count(one Cell) {
	at, there := slices.BinarySearchFunc(c.Cells, one, c.order)
	if there {
		c.Cells[at].Cases += one.Cases
		return
	}
	c.Cells = slices.Insert(c.Cells, at, one)
}

func (c *Coverage) order(a, b Cell) int {
	for _, by := range []struct {
		of   []string
		a, b string
	}{{c.Strategies, a.Strategy, b.Strategy}, {c.Faults, a.Fault, b.Fault}, {c.States, a.State, b.State}} {
		if d := slices.Index(by.of, by.a) - slices.Index(by.of, by.b); d != 0 {
			return d
		}
	}
	return 0
}

// add adds what others have tried. The first known of the strategies are those of all.
func (c *Coverage) add(o *Coverage, known int) {
	for _, strategy := range o.Strategies {
		c.learn(strategy, known)
	}
	for _, one := range o.Cells {
		c.count(one)
	}
}

// cases are those that visited a cell.
func (c *Coverage) cases(strategy, fault, state string) uint64 {
	at, there := slices.BinarySearchFunc(c.Cells, Cell{Strategy: strategy, Fault: fault, State: state}, c.order)
	if !there {
		return 0
	}
	return c.Cells[at].Cases
}

// Never are the cells that no case has visited.
func (c *Coverage) Never() (all []Cell) {
	for _, strategy := range c.Strategies {
		for _, fault := range c.Faults {
			for _, state := range c.States {
				if c.cases(strategy, fault, state) == 0 {
					all = append(all, Cell{strategy, fault, state, 0})
				}
			}
		}
	}
	return all
}

// untried are these cells by strategy and fault.
func (c *Coverage) untried() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for _, one := range c.Never() {
		if all[one.Strategy] == nil {
			all[one.Strategy] = map[string][]string{}
		}
		all[one.Strategy][one.Fault] = append(all[one.Strategy][one.Fault], one.State)
	}
	return all
}

// Summary says in one line how many of the combinations of a strategy, a fault and a state were visited.
func (c *Coverage) Summary() string {
	all := len(c.Strategies) * len(c.Faults) * len(c.States)
	return fmt.Sprintf("coverage: cases in which a node was in a state when a fault began; %d of %s", all-len(c.Never()), phrase.Count(all, "combination"))
}

// Text writes that line, and a table for each strategy, of the faults that were tried with it, and which ones never were.
func (c *Coverage) Text(w io.Writer) error {
	fmt.Fprintln(w, c.Summary())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, strategy := range c.Strategies {
		var rows, never []string
		for _, fault := range c.Faults {
			row, tried := "", false
			for _, state := range c.States {
				n := c.cases(strategy, fault, state)
				row, tried = fmt.Sprintf("%s\t%d", row, n), tried || n > 0
			}
			if tried {
				rows = append(rows, fault+row)
			} else {
				never = append(never, fault)
			}
		}
		if len(rows) == 0 {
			fmt.Fprintf(t, "%s: never tried\n", strategy)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\n", strategy, strings.Join(c.States, "\t"))
		for _, row := range rows {
			fmt.Fprintf(t, "  %s\n", row)
		}
		if len(never) > 0 {
			fmt.Fprintf(t, "  never tried: %s\n", strings.Join(never, ", "))
		}
	}
	return t.Flush()
}
