package serve_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/scenarios"
)

// A client cordons a node of a cluster that acts and deletes a pod there: the feed tells of it, and the pod's
// controller makes another one, which runs elsewhere.
func TestAServedClusterActs(t *testing.T) {
	found, err := scenarios.Find("surge")
	if err != nil {
		t.Fatal(err)
	}
	file, err := found.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := file.Act(scenarios.ActConfig{AtRest: true})
	if err != nil {
		t.Fatal(err)
	}
	s := newStory(t)
	s.options.Tape, s.options.Engine = ui.Acting("scenario surge"), engine
	s.options.Server = []apiserver.Option{apiserver.KeepWrites(nil)}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	session, err := serve.Open(ctx, s.options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- session.Run(ctx, func(ctx context.Context) error { return session.Show.Play(ctx, ui.Watcher{Control: session.Control}) })
	}()
	config, err := clientcmd.BuildConfigFromFlags("", session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	web := metav1.ListOptions{LabelSelector: "app=web"}
	before, err := k.CoreV1().Pods("shop").List(ctx, web)
	if err != nil || len(before.Items) == 0 {
		t.Fatal(err, len(before.Items))
	}
	gone := before.Items[0]
	if _, err := k.CoreV1().Nodes().Patch(ctx, gone.Spec.NodeName, types.MergePatchType, []byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	session.Player.SetSpeed(1000)
	if err := k.CoreV1().Pods("shop").Delete(ctx, gone.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := k.CoreV1().Pods("shop").Watch(ctx, metav1.ListOptions{LabelSelector: "app=web", ResourceVersion: before.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for ev := range w.ResultChan() {
		p, ok := ev.Object.(*corev1.Pod)
		if !ok {
			t.Fatal(apierrors.FromObject(ev.Object))
		}
		isOld := slices.ContainsFunc(before.Items, func(o corev1.Pod) bool { return o.UID == p.UID })
		if !isOld && p.Status.Phase == corev1.PodRunning {
			if p.Spec.NodeName == gone.Spec.NodeName {
				t.Errorf("%s runs on the cordoned node", p.Name)
			}
			break
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(s.feed.String(), "cordoned    "+gone.Spec.NodeName) {
		t.Errorf("the feed doesn't show that %s is cordoned:\n%s", gone.Spec.NodeName, s.feed.String())
	}
}
