package simcluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/nodesim/nodesim/scenarios/simcluster"
)

func template(name string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: name, Image: "registry.example.com/" + name + ":1", Env: []corev1.EnvVar{{Name: "MODE", Value: "fast"}},
		}}},
	}
}

// deploy creates a Deployment.
func deploy(t testing.TB, k kubernetes.Interface, namespace, name string, replicas int32) {
	t.Helper()
	_, err := k.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// Workloads that a client creates, scales and deletes through the API get their pods, and say so in their status.
func TestClientsWorkloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
		c.Start()
		k := clients(t, c)
		replicas := int32(3)
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}
		apps, ctx := k.AppsV1(), t.Context()
		if _, err := apps.Deployments("shop").Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "api"},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template("api")},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		deployed := func(n int32) func() bool {
			return func() bool {
				d, err := apps.Deployments("shop").Get(ctx, "api", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return d.Status.ReadyReplicas == n && d.Status.Replicas == n && d.Status.ObservedGeneration == d.Generation
			}
		}
		c.Eventually(5*time.Minute, "three pods of api", deployed(3))
		scale, err := apps.Deployments("shop").GetScale(ctx, "api", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		scale.Spec.Replicas = 5
		if _, err := apps.Deployments("shop").UpdateScale(ctx, "api", scale, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "five pods of api", deployed(5))
		list, err := k.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: "app=api"})
		if err != nil || len(list.Items) != 5 || len(list.Items[0].Spec.Containers[0].Env) != 1 {
			t.Fatalf("%d pods: %v", len(list.Items), err)
		}
		if err := apps.Deployments("shop").Delete(ctx, "api", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "the end of the pods of api", func() bool {
			list, err := k.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: "app=api"})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items) == 0
		})

		if _, err := apps.DaemonSets("shop").Create(ctx, &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: "agent"},
			Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}, Template: template("agent")},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "a pod of agent on every node", func() bool {
			d, err := apps.DaemonSets("shop").Get(ctx, "agent", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return d.Status.NumberReady == 6 && d.Status.DesiredNumberScheduled == 6
		})
		once := template("once")
		once.Spec.RestartPolicy = corev1.RestartPolicyNever
		if _, err := k.BatchV1().Jobs("shop").Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: once}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "a pod of the Job", func() bool {
			j, err := k.BatchV1().Jobs("shop").Get(ctx, "once", metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			return j.Status.Active == 1
		})
		pods := func(selector string) int {
			list, err := k.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: selector})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items)
		}
		foreground, orphan := metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan
		if err := apps.DaemonSets("shop").Delete(ctx, "agent", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "the end of agent", func() bool {
			_, err := apps.DaemonSets("shop").Get(ctx, "agent", metav1.GetOptions{})
			if there := err == nil; !there && pods("app=agent") > 0 {
				t.Fatal("the DaemonSet went before its pods")
			}
			return apierrors.IsNotFound(err)
		})
		if err := apps.Deployments("shop").Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "the end of the Deployment web", func() bool {
			_, err := apps.Deployments("shop").Get(ctx, "web", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
		one, err := k.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{LabelSelector: "app=web", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		gone := one.Items[0].Name
		if err := k.CoreV1().Pods("shop").Delete(ctx, gone, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.Eventually(5*time.Minute, "another pod of the ReplicaSet that is left", func() bool {
			_, err := k.CoreV1().Pods("shop").Get(ctx, gone, metav1.GetOptions{})
			return apierrors.IsNotFound(err) && pods("app=web") == 12
		})
		sound(t, c)
	})
}

// A client changes the template right after it has created the Deployment, and again before the first change has led
// to a ReplicaSet.
func TestARolloutMayBeHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simcluster.ForTest(t, simcluster.AtRest(simcluster.Scenario("surge")))
		c.Start()
		k := clients(t, c)
		deploy(t, k, "shop", "api", 3)
		<-time.After(20 * time.Second)
		for i, image := range []string{"registry.example.com/api:2", "registry.example.com/api:3", "registry.example.com/api:4"} {
			d, err := k.AppsV1().Deployments("shop").Get(t.Context(), "api", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			d.Spec.Template.Spec.Containers[0].Image = image
			if _, err := k.AppsV1().Deployments("shop").Update(t.Context(), d, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Duration(i) * 700 * time.Millisecond)
		}
		c.Eventually(5*time.Minute, "three pods of the last image", func() bool {
			list, err := k.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{LabelSelector: "app=api"})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list.Items {
				if p.Spec.Containers[0].Image != "registry.example.com/api:4" || !isReady(&p) {
					return false
				}
			}
			return len(list.Items) == 3
		})
		sound(t, c)
	})
}
