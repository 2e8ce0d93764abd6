package roller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// resources is a roll of resources.
type resources struct{ roll Roll }

func (c resources) holds(pod *corev1.Pod) (bool, error) {
	if _, _, err := podupdate.ApplyResize(pod, c.roll.Resources); err != nil {
		return false, err
	}
	return c.roll.Resources.Holds(pod), nil
}

func (c resources) read(pod *corev1.Pod) (record, error) {
	s, err := c.roll.Keys.ReadResize(pod)
	if s == nil || err != nil {
		return record{}, err
	}
	return record{
		phase: s.Phase, since: s.UpdateTime.Time, rollback: len(s.RolledBack) > 0, origin: len(s.FromResources) > 0,
		gaveUp:   s.RolledBack.Equal(c.roll.Resources) || s.Phase == podupdate.InplaceUpdatePhaseFailed && s.TargetResources.Equal(c.roll.Resources),
		forsaken: s.Reason == ReasonForsaken,
	}, nil
}

func (c resources) progress(pod *corev1.Pod, now time.Time) (podupdate.Progress, error) {
	return c.roll.Keys.ResizeProgress(pod, c.roll.Deadline, now)
}

func (c resources) String() string {
	return pick(slices.Sorted(maps.Keys(c.roll.Resources)), func(name string) string {
		var words []string
		r := c.roll.Resources[name]
		for _, list := range []struct {
			word string
			list corev1.ResourceList
		}{{"requests", r.Requests}, {"limits", r.Limits}} {
			for _, of := range slices.Sorted(maps.Keys(list.list)) {
				quantity := list.list[of]
				words = append(words, fmt.Sprintf("%s %s %s", list.word, of, quantity.String()))
			}
		}
		return name + " " + strings.Join(words, ", ")
	})
}
