package render

import "github.com/nodesim/nodesim/noderoll"

// machines are what NodeClaims and Machines have to say: a row for one without a node, a note in the row of one's node.
type machines struct {
	waiting []*noderoll.MachineView // without a node
	of      map[string]*noderoll.MachineView
}

func machinesOf(f *Frame) (m machines) {
	if f.Pods {
		return m
	}
	for i := range f.Snapshot.Machines {
		v := &f.Snapshot.Machines[i]
		if v.Node == "" {
			m.waiting = append(m.waiting, v)
			continue
		}
		if m.of == nil {
			m.of = map[string]*noderoll.MachineView{}
		}
		m.of[v.Node] = v
	}
	return m
}

// machineRows are how many of the rows of nodes go to machines without one: all that the nodes leave, and at least a
// quarter.
func (p *painter) machineRows(rows int) int {
	return min(len(p.machines.waiting), max(rows-len(p.frame.Snapshot.Nodes), rows/4))
}

// machine is the row of a machine that has no node: it stands among the new ones.
func (p *painter) machine(v *noderoll.MachineView, c columns) row {
	r := p.rowOf(sign{p.joining, "requested", inkJoining}, false, true, pad(cutMiddle(p.clean(v.Object), c.name, p.ellipsis), c.name), c.phase)
	if why := p.machineWaits(v); why != "" {
		r = append(r, span{inkDim, "  " + why})
	}
	return r
}

// machineNote is what the row of a node says of its machine.
func (p *painter) machineNote(n *noderoll.NodeView) row {
	v := p.machines.of[n.Name]
	if v == nil {
		return nil
	}
	var r row
	if v.Drifted {
		r = append(r, span{inkDim, "  drifted"})
	}
	if why := p.machineWaits(v); why != "" {
		r = append(r, span{inkDrain, "  " + why})
	}
	return r
}

// machineWaits says which condition a machine waits for, and why.
func (p *painter) machineWaits(v *noderoll.MachineView) string {
	why := p.clean(v.Reason)
	if message := p.clean(v.Message); message != "" {
		why = message
	}
	return join(p.clean(v.Condition), ": ", cut(why, p.width, p.ellipsis))
}
