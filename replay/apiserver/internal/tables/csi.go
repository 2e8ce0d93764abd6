package tables

import (
	"cmp"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
)

func csiNodes() *Printer {
	return typed(func(n *storagev1.CSINode, now time.Time) []any {
		return []any{n.Name, int64(len(n.Spec.Drivers)), since(n.CreationTimestamp, now)}
	}, nameColumn(), integer("Drivers", "Drivers indicates the number of CSI drivers registered on the node"), ageColumn())
}

func csiDrivers() *Printer {
	spec := storagev1.CSIDriverSpec{}
	return typed(csiDriverCells,
		nameColumn(),
		boolean("AttachRequired", doc(spec, "attachRequired")),
		boolean("PodInfoOnMount", doc(spec, "podInfoOnMount")),
		boolean("StorageCapacity", doc(spec, "storageCapacity")),
		text("TokenRequests", doc(spec, "tokenRequests")),
		boolean("RequiresRepublish", doc(spec, "requiresRepublish")),
		text("Modes", doc(spec, "volumeLifecycleModes")),
		ageColumn(),
	)
}

// csiDriverCells tells token requests that are there from an empty list of them.
func csiDriverCells(driver *storagev1.CSIDriver, now time.Time) []any {
	spec := &driver.Spec
	tokens := unset
	if spec.TokenRequests != nil {
		var audiences []string
		for _, request := range spec.TokenRequests {
			audiences = append(audiences, request.Audience)
		}
		tokens = strings.Join(audiences, ",")
	}
	var modes []string
	for _, mode := range spec.VolumeLifecycleModes {
		modes = append(modes, string(mode))
	}
	return []any{
		driver.Name, ptr.Deref(spec.AttachRequired, true), ptr.Deref(spec.PodInfoOnMount, false), ptr.Deref(spec.StorageCapacity, false),
		tokens, ptr.Deref(spec.RequiresRepublish, false), cmp.Or(strings.Join(modes, ","), string(storagev1.VolumeLifecyclePersistent)),
		since(driver.CreationTimestamp, now),
	}
}
