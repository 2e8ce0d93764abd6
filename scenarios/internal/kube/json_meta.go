package kube

// metadata writes the members of metadata that differ. A tape has name, namespace, uid and resourceVersion beside the
// object, and not in it.
func (w *writer) metadata(old, m *Meta, generateOld, generate string) {
	w.begin("metadata")
	w.text("generateName", generateOld, generate)
	w.number("generation", old.Generation, m.Generation)
	w.time("creationTimestamp", old.Created.Second(), m.Created.Second())
	w.time("deletionTimestamp", old.Deleting.Second(), m.Deleting.Second())
	if (old.Deleting != 0) != (m.Deleting != 0) || old.Grace != m.Grace {
		w.name("deletionGracePeriodSeconds")
		if m.Deleting == 0 {
			w.b = append(w.b, "null"...)
		} else {
			w.b = appendInt(w.b, m.Grace)
		}
	}
	w.object("labels", old.Labels, m.Labels)
	w.object("annotations", old.Annotations, m.Annotations)
	if m.Owner != old.Owner && m.Owner != nil {
		w.list("ownerReferences")
		w.brace()
		w.str("apiVersion", m.Owner.APIVersion)
		w.str("kind", m.Owner.Kind)
		w.str("name", m.Owner.Name)
		w.str("uid", m.Owner.UID)
		w.raw("controller", "true")
		w.raw("blockOwnerDeletion", "true")
		w.close()
		w.closeList()
	} else if m.Owner != old.Owner {
		w.null("ownerReferences")
	}
	w.strings("finalizers", old.Finalizers, m.Finalizers)
	w.end()
}

// conditionStyle says which members a condition of some kind of object has.
type conditionStyle int

const (
	ofNode conditionStyle = iota
	ofPod
	ofOthers
)

func (w *writer) conditions(old, now Conditions, style conditionStyle) {
	if alike(old, now) {
		return
	}
	if len(now) == 0 {
		w.null("conditions")
		return
	}
	w.list("conditions")
	for i := range now {
		c := &now[i]
		w.item()
		w.brace()
		w.str("type", c.Type)
		if style == ofPod && c.Observed != 0 {
			w.int("observedGeneration", c.Observed)
		}
		w.str("status", c.Status)
		switch style {
		case ofNode:
			w.at("lastHeartbeatTime", c.Heartbeat)
		case ofPod:
			w.at("lastProbeTime", c.Heartbeat) // of a resize alone
		case ofOthers:
			if c.Observed != 0 {
				w.int("observedGeneration", c.Observed)
			}
		}
		w.at("lastTransitionTime", c.Transition)
		w.str("reason", c.Reason)
		if style == ofOthers {
			w.strAlways("message", c.Message)
		} else {
			w.str("message", c.Message)
		}
		w.close()
	}
	w.closeList()
}
