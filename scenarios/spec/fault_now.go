package spec

import (
	"reflect"
	"strings"
)

// ParseFault reads the action of a fault: YAML such as {vanish: {group: workers, nodes: 2}}, as a scenario file has it
// below faults, without a trigger.
func ParseFault(text string) (*Fault, error) {
	root, bad := parseTree("fault", []byte(text))
	if bad != nil {
		return nil, bad
	}
	f, bad := decodeFault(root)
	if bad != nil {
		return nil, bad
	}
	return f, nil
}

func decodeFault(root *node) (*Fault, *Error) {
	f := &Fault{}
	in := newDecoder("fault")
	if root.kind != isMapping {
		return nil, in.at(root, "", root.String(), "an action: "+list(actionKeys()))
	}
	if err := in.mapping(root, reflect.ValueOf(f).Elem(), ""); err != nil {
		return nil, err
	}
	return f, nil
}

// FaultNow checks a fault that is to happen now in the cluster of the file: it has an action and no trigger. It fills
// in the defaults of what is zero, but for truth values.
func (f *File) FaultNow(fault *Fault) (*Fault, error) {
	if fault.At != nil || fault.When != nil || fault.After != nil || fault.If != nil {
		return nil, &Error{File: "fault", Found: "a trigger, or if", Wanted: "neither of a fault that happens now"}
	}
	root := encode(reflect.ValueOf(fault))
	for i, action := range root.keys {
		if v := reflect.ValueOf(fault).Elem().FieldByName(fieldNamed(action)); v.Kind() == reflect.Pointer {
			root.items[i].truths(v.Elem())
		}
	}
	whole, bad := decodeFault(root)
	if bad != nil {
		return nil, lineless(bad)
	}
	at := f.TimeLimit
	checked := *whole
	checked.At = &at
	file := *f
	file.Faults = []Fault{checked}
	c := &checker{file: "fault", f: &file}
	for _, down := range []*Down{whole.KubeletDown, whole.RuntimeDown} {
		if down != nil && down.Every == 0 {
			down.Every = 2 * down.For
		}
	}
	if bad := c.faults(); bad != nil {
		bad.Path = strings.TrimPrefix(strings.TrimPrefix(bad.Path, "faults[0]"), ".")
		return nil, bad
	}
	return whole, nil
}

// fieldNamed is the name of the field of a Fault that a key stands for.
func fieldNamed(key string) string {
	t := reflect.TypeFor[Fault]()
	for _, f := range fieldsOf(t) {
		if f.key == key {
			return t.FieldByIndex(f.index).Name
		}
	}
	return ""
}

// truths writes the truth values of a struct that are false, which no default is to replace.
func (n *node) truths(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		if value := v.FieldByIndex(f.index); value.Kind() == reflect.Bool {
			n.set(f.key, encode(value))
		}
	}
}

// Victims are the nodes that the fault hits, nil where it isn't about nodes.
func (f *Fault) Victims() *Victims {
	switch {
	case f.SpotInterruption != nil:
		return &f.SpotInterruption.Victims
	case f.Vanish != nil:
		return &f.Vanish.Victims
	case f.KubeletDown != nil:
		return &f.KubeletDown.Victims
	case f.RuntimeDown != nil:
		return &f.RuntimeDown.Victims
	case f.Reboot != nil:
		return f.Reboot
	case f.Shutdown != nil:
		return f.Shutdown
	case f.Cordon != nil:
		return f.Cordon
	case f.Uncordon != nil:
		return f.Uncordon
	}
	return f.Delete
}

// Actions are the keys of all actions that a fault may have.
func Actions() []string { return actionKeys() }
