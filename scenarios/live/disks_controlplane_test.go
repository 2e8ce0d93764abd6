//go:build controlplane

package live_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios/live"
)

// A database's volumes follow it from node to node, where the provider is quick
// and where its detachments fail for a while. It is the real attach-detach
// controller that asks for it, and a volume is never on two nodes.
func TestVolumes(t *testing.T) {
	for _, one := range []struct {
		name, stuck string
		fails       bool
	}{{"moves", "stuck=1s", false}, {"stuck", "stuck=12m", true}} {
		t.Run(one.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
			defer cancel()
			before := audited(t)
			var left time.Time
			p := newRunner(t, scenario(t, "volume-detach", one.stuck), live.OnProgress(func(p live.Progress) {
				if p.Phase == live.Leaving {
					left = time.Now()
				}
			}))
			seen := watchAttachments(ctx, t)
			ignore := goleak.IgnoreCurrent()
			report, err := p.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s", report)
			moved := seen.end()
			t.Logf("%d attachments, %d failures of detachments", moved.attached, moved.failed)
			if !report.Ended || !slices.Equal(report.Outcomes, []string{""}) {
				t.Errorf("ended %t, outcomes %q: want one that is complete", report.Ended, report.Outcomes)
			}
			if len(report.Left) > 0 || report.Refused > 0 {
				t.Errorf("left %v, refused %d: want neither", report.Left, report.Refused)
			}
			endCheck(t)
			goleak.VerifyNone(t, ignore)
			if len(moved.twice) > 0 {
				t.Errorf("on two nodes at a time: %v", moved.twice)
			}
			// Three volumes from three old nodes to other ones, at least.
			if moved.attached < 6 || one.fails && moved.failed == 0 {
				t.Errorf("%d attachments, %d failures of detachments: want six at least, and failures: %t", moved.attached, moved.failed, one.fails)
			}
			askedByControlPlane(t, audited(t)[len(before):], left)
			noDisksLeft(ctx, t)
			nothingLeft(ctx, t)
		})
	}
}

// attachments are what a watch of VolumeAttachments has seen.
type attachments struct {
	watch watch.Interface
	owned sync.WaitGroup

	on               map[string]string // the attachment that has the volume
	attached, failed int
	twice            []string
}

func watchAttachments(ctx context.Context, t *testing.T) *attachments {
	t.Helper()
	w, err := client(t).StorageV1().VolumeAttachments().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &attachments{watch: w, on: map[string]string{}}
	s.owned.Go(func() {
		for e := range w.ResultChan() {
			if a, is := e.Object.(*storagev1.VolumeAttachment); is {
				s.see(e.Type, a)
			}
		}
	})
	return s
}

func (s *attachments) see(e watch.EventType, a *storagev1.VolumeAttachment) {
	volume := *a.Spec.Source.PersistentVolumeName
	switch has := s.on[volume]; {
	case e == watch.Deleted:
		if has == a.Name {
			delete(s.on, volume)
		}
	case a.Status.DetachError != nil:
		s.failed++
	case !a.Status.Attached || has == a.Name:
	case has != "":
		s.twice = append(s.twice, volume)
	default:
		s.attached++
		s.on[volume] = a.Name
	}
}

func (s *attachments) end() *attachments {
	s.watch.Stop()
	s.owned.Wait()
	return s
}

// askedByControlPlane holds the audit log against the promise that attachments are
// made and, up to the end of the scenario, deleted by the attach-detach controller.
func askedByControlPlane(t *testing.T, log []entry, left time.Time) {
	t.Helper()
	made, gone := 0, 0
	for _, e := range log {
		if e.ObjectRef.Resource != "volumeattachments" || e.StageTimestamp.After(left) || e.ResponseStatus.Code >= 300 || e.Verb != "create" && e.Verb != "delete" {
			continue
		}
		if !strings.HasSuffix(e.User.Username, ":attachdetach-controller") {
			t.Errorf("%s %s by %s: want the attach-detach controller alone", e.Verb, e.ObjectRef.Name, e.User.Username)
		}
		if e.Verb == "create" {
			made++
		} else {
			gone++
		}
	}
	if made < 6 || gone < 3 {
		t.Errorf("%d attachments made and %d deleted: want six and three at least", made, gone)
	}
}

// noDisksLeft lists what a live run with volumes may have left.
func noDisksLeft(ctx context.Context, t *testing.T) {
	t.Helper()
	c := client(t)
	claims, err := c.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	volumes, err := c.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	attached, err := c.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	classes, err := c.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	drivers, err := c.StorageV1().CSINodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(claims.Items) + len(volumes.Items) + len(attached.Items) + len(classes.Items) + len(drivers.Items); n > 0 {
		t.Errorf("left: %d claims, %d volumes, %d attachments, %d classes, %d CSINodes: want nothing",
			len(claims.Items), len(volumes.Items), len(attached.Items), len(classes.Items), len(drivers.Items))
	}
}
