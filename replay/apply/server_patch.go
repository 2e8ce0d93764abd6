package apply

// serverPatch is the patch that brings what the server has to where the tape has
// it, without status. With exact, what an earlier run has set goes where the
// tape doesn't have it.
func serverPatch(w *want, have object, exact bool) object {
	if have["kind"] == nil {
		return nil // a dry run's
	}
	patch := delta(have, w.main, false)
	if patch == nil {
		patch = object{}
	}
	meta := object{}
	for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
		is, wanted := object{name: mineOf(at(have, "metadata", name))}, object{name: at(w.main, "metadata", name)}
		for n, v := range delta(is, wanted, name != "finalizers") {
			meta[n] = v
		}
	}
	delete(patch, "metadata")
	if len(meta) > 0 {
		patch["metadata"] = meta
	}
	switch {
	case isPod(w.resource):
		return w.podPatch(patch, have)
	case isEvent(w.resource):
		delete(patch, "eventTime") // it can't change, and an earlier run has said it
	case exact && !isNode(w.resource):
		is, _ := have["spec"].(object)
		wanted, _ := w.main["spec"].(object)
		if d := delta(is, wanted, true); d != nil {
			patch["spec"] = d
		}
	}
	return patch
}

// theirs are annotations that a controller manager puts on nodes (pkg/controller/ttl)
// and would put there again.
var theirs = map[string]bool{"node.alpha.kubernetes.io/ttl": true}

func mineOf(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for name, m := range o {
		if !theirs[name] {
			out[name] = m
		}
	}
	return out
}
