package noderoll

import (
	"cmp"
	"time"
)

// SetMachine records a machine that was added or modified. A new one without a node is requested, one that isn't what its
// owner asks for any more drifted; every other step, and what it waits for, is of the kind machine.
func (f *Feed) SetMachine(at time.Duration, m Machine) []Entry {
	f.begin(at)
	settled := f.machinesSettled[m.Kind]
	f.listingPods = !settled
	key := machineKey{m.Kind, m.Namespace, m.Name}
	was, known := machineRec{}, false
	if rec := f.state.machines[key]; rec != nil {
		was, known = *rec, true
	}
	f.state.SetMachine(m)
	if rec := f.state.machines[key]; settled && rec.scope && f.state.roll == nil {
		if known {
			f.machineChanged(key, &was, rec)
		} else {
			f.machineCame(key, rec)
		}
	}
	return f.end()
}

// DeleteMachine records the deletion of a machine.
func (f *Feed) DeleteMachine(at time.Duration, kind, namespace, name string) []Entry {
	f.begin(at)
	key := machineKey{kind, namespace, name}
	if rec := f.state.machines[key]; rec != nil && rec.scope && f.state.roll == nil {
		f.emit(Entry{Kind: EvtMachine, Node: rec.node, Object: key.path(), Reason: "Deleted"})
	}
	f.state.DeleteMachine(kind, namespace, name)
	return f.end()
}

// machineCame tells of a new machine. What it waits for at first is the order of things.
func (f *Feed) machineCame(key machineKey, rec *machineRec) {
	e := Entry{Kind: EvtRequested, Object: key.path()}
	if rec.node != "" {
		e = Entry{Kind: EvtMachine, Node: rec.node, Object: key.path(), Reason: "Created"}
	}
	f.emit(e)
}

// machineChanged tells what is new of a machine.
func (f *Feed) machineChanged(key machineKey, was, now *machineRec) {
	step := func(reason, message string) {
		f.emit(Entry{Kind: EvtMachine, Node: now.node, Object: key.path(), Reason: reason, Message: message})
	}
	if now.phase != was.phase && now.phase != "" {
		step(now.phase, "")
	}
	for i, typ := range claimSteps {
		if now.steps&^was.steps&(1<<i) != 0 {
			step(typ, "")
		}
	}
	if d := now.drifted; d.Type != "" && was.drifted.Type == "" {
		f.emit(Entry{Kind: EvtDrifted, Node: now.node, Object: key.path(), Reason: cmp.Or(d.Reason, d.Type), Message: d.says()})
	}
	if now.deleting && !was.deleting && now.phase == "" {
		step("Deleting", "")
	}
	if w := now.waits; w.Type != "" && (w.Type != was.waits.Type || w.Status != was.waits.Status || w.Reason != was.waits.Reason) {
		text := w.Type + " is " + w.Status
		if says := w.says(); says != "" {
			text += ": " + says
		}
		step(cmp.Or(w.Reason, w.Type), text)
	}
}

// says is the message, where it isn't the reason again.
func (c *MachineCondition) says() string {
	if c.Message == c.Reason {
		return ""
	}
	return c.Message
}
