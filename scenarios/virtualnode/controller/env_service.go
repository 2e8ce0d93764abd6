package controller

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// serviceVariables are the variables of the services that the pod sees: those of its namespace unless enableServiceLinks
// is false, and always kubernetes of the namespace default (k8s.io/kubernetes, pkg/kubelet/kubelet_pods.go,
// getServiceEnvVarMap). A service without a cluster IP has none.
func (e *environment) serviceVariables(pod *corev1.Pod) ([]corev1.EnvVar, error) {
	links := pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks
	var seen []*corev1.Service
	if links {
		own, err := e.services.Services(pod.Namespace).List(labels.Everything())
		if err != nil {
			return nil, fmt.Errorf("list services: %w", err)
		}
		seen = append(seen, own...)
	}
	if !slices.ContainsFunc(seen, func(s *corev1.Service) bool { return s.Name == "kubernetes" }) {
		if main, err := e.services.Services(metav1.NamespaceDefault).Get("kubernetes"); err == nil {
			seen = append(seen, main)
		}
	}
	slices.SortFunc(seen, func(a, b *corev1.Service) int { return strings.Compare(a.Name, b.Name) })
	var result []corev1.EnvVar
	for _, service := range seen {
		if ip := service.Spec.ClusterIP; ip != "" && ip != corev1.ClusterIPNone && len(service.Spec.Ports) > 0 {
			result = append(result, variablesOf(service)...)
		}
	}
	return result, nil
}

// variablesOf are the variables of one service (k8s.io/kubernetes, pkg/kubelet/envvars/envvars.go, FromServices).
func variablesOf(service *corev1.Service) []corev1.EnvVar {
	var result []corev1.EnvVar
	set := func(name, value string) { result = append(result, corev1.EnvVar{Name: name, Value: value}) }
	prefix, ip, ports := variableName(service.Name), service.Spec.ClusterIP, service.Spec.Ports
	set(prefix+"_SERVICE_HOST", ip)
	set(prefix+"_SERVICE_PORT", number(ports[0]))
	for _, port := range ports {
		if port.Name != "" {
			set(prefix+"_SERVICE_PORT_"+variableName(port.Name), number(port))
		}
	}
	for i, port := range ports {
		protocol := string(port.Protocol)
		if protocol == "" {
			protocol = string(corev1.ProtocolTCP)
		}
		address := strings.ToLower(protocol) + "://" + net.JoinHostPort(ip, number(port))
		if i == 0 {
			set(prefix+"_PORT", address)
		}
		link := fmt.Sprintf("%s_PORT_%d_%s", prefix, port.Port, strings.ToUpper(protocol))
		set(link, address)
		set(link+"_PROTO", strings.ToLower(protocol))
		set(link+"_PORT", number(port))
		set(link+"_ADDR", ip)
	}
	return result
}

func number(port corev1.ServicePort) string { return strconv.Itoa(int(port.Port)) }

// variableName is a DNS label as the name of an environment variable.
func variableName(label string) string { return strings.ToUpper(strings.ReplaceAll(label, "-", "_")) }
