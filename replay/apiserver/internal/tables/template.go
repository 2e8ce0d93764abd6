package tables

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func podTemplates() *Printer {
	return typed(func(t *corev1.PodTemplate, _ time.Time) []any {
		names, images := containers(&t.Template)
		return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
	}, nameColumn(), containersColumn(), imagesColumn(), text("Pod Labels", "The labels for the pod template."))
}

func containersColumn() metav1.TableColumnDefinition {
	return text("Containers", "Names of each container in the template.")
}

func imagesColumn() metav1.TableColumnDefinition {
	return text("Images", "Images referenced by each container in the template.")
}

// containers are the names and the images of a template's containers, in its order.
func containers(template *corev1.PodTemplateSpec) (names, images string) {
	if template == nil {
		return "", ""
	}
	var n, i []string
	for _, c := range template.Spec.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}
