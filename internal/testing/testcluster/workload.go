package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// A Workload is a Deployment whose pods run on one node group, under a PodDisruptionBudget of the same name.
type Workload struct {
	Namespace    string // default
	Name         string // web
	Image        string // nginx:1.29
	CPU          string // what a pod requests; 500m
	Replicas     int32
	MinAvailable int // of the budget; none is made for 0

	// Env becomes the environment of the containers, for tests that look for it where it must not be.
	Env map[string]string
	// Annotations become those of the pod template.
	Annotations map[string]string
}

func (w Workload) namespace() string { return cmp.Or(w.Namespace, metav1.NamespaceDefault) }
func (w Workload) name() string      { return cmp.Or(w.Name, "web") }

// Create creates budget and Deployment on the group's nodes and returns when every replica is available and the
// budget knows it, so that a roll that follows begins from rest.
func (w Workload) Create(ctx context.Context, client kubernetes.Interface, g Group) error {
	if w.MinAvailable > 0 {
		if _, err := client.PolicyV1().PodDisruptionBudgets(w.namespace()).Create(ctx, w.budget(), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create workload %s: %w", w.name(), err)
		}
	}
	if _, err := client.AppsV1().Deployments(w.namespace()).Create(ctx, w.deployment(g), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create workload %s: %w", w.name(), err)
	}
	return w.AtRest(ctx, client)
}

// AtRest waits until every replica is available and the budget allows what it can.
func (w Workload) AtRest(ctx context.Context, client kubernetes.Interface) error {
	return poll(ctx, 100*time.Millisecond, w.name()+" to be at rest", func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments(w.namespace()).Get(ctx, w.name(), metav1.GetOptions{})
		if err != nil || d.Status.AvailableReplicas != w.Replicas {
			return false, err
		}
		if w.MinAvailable == 0 {
			return true, nil
		}
		budget, err := client.PolicyV1().PodDisruptionBudgets(w.namespace()).Get(ctx, w.name(), metav1.GetOptions{})
		return err == nil && budget.Status.CurrentHealthy == w.Replicas, err
	})
}

func (w Workload) labels() map[string]string { return map[string]string{"app": w.name()} }

func (w Workload) budget() *policyv1.PodDisruptionBudget {
	least := intstr.FromInt(w.MinAvailable)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: w.name(), Namespace: w.namespace()},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: w.labels()},
		},
	}
}

func (w Workload) deployment(g Group) *appsv1.Deployment {
	var env []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(w.Env)) {
		env = append(env, corev1.EnvVar{Name: name, Value: w.Env[name]})
	}
	grace := int64(5)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: w.name(), Namespace: w.namespace()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &w.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: w.labels()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: w.labels(), Annotations: w.Annotations},
				Spec: corev1.PodSpec{
					NodeSelector:                  map[string]string{LabelNodegroup: g.name()},
					TerminationGracePeriodSeconds: &grace,
					Containers: []corev1.Container{{
						Name:  w.name(),
						Image: cmp.Or(w.Image, "nginx:1.29"),
						Env:   env,
						Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
							corev1.ResourceCPU: resource.MustParse(cmp.Or(w.CPU, "500m")),
						}},
					}},
				},
			},
		},
	}
}
