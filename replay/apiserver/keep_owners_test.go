package apiserver_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Two clients that apply an object agree on who owns its fields, at the cluster's time.
func TestClientsOwnFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := keeping(t, nil)
		config := rest.AddUserAgent(s.RESTConfig(), "tests")
		c, ctx := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("team"), t.Context()
		<-time.After(time.Minute)
		apply := func(manager, value string, force bool) error {
			m, err := c.Apply(ctx, applycorev1.ConfigMap("m", "team").WithData(map[string]string{"a": value}), metav1.ApplyOptions{FieldManager: manager, Force: force})
			if err == nil && (m.Data["a"] != value || !m.ManagedFields[0].Time.Time.Equal(time.Now())) {
				t.Errorf("applied by %s: %v, %v", manager, m.Data, m.ManagedFields)
			}
			return err
		}
		if err := apply("one", "1", false); err != nil {
			t.Fatal(err)
		}
		before, err := c.Get(ctx, "m", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		err = apply("two", "2", false)
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			t.Fatal(err)
		}
		if causes := status.Status().Details.Causes; !apierrors.IsConflict(err) || len(causes) != 1 || causes[0].Type != metav1.CauseTypeFieldManagerConflict || causes[0].Field != ".data.a" {
			t.Error(err)
		}
		<-time.After(time.Minute)
		if m, err := c.Apply(ctx, applycorev1.ConfigMap("m", "team").WithData(map[string]string{"a": "1"}), metav1.ApplyOptions{FieldManager: "one"}); err != nil || m.ResourceVersion != before.ResourceVersion {
			t.Error("to apply the same again is a write:", err, m)
		}
		if err := apply("two", "2", true); err != nil {
			t.Error(err)
		}
		m, err := c.Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"b":"1"}}`), metav1.PatchOptions{})
		if err != nil || len(m.ManagedFields) != 2 || m.ManagedFields[1].Manager != "apiserver.test" {
			t.Error(err, m.ManagedFields)
		}
		stop()
	})
}
