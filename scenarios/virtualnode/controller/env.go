package controller

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
)

// environment resolves the environment variables of pods as a kubelet does (k8s.io/kubernetes,
// pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables), with two differences: the order is always the same, so that
// equal pods compare equal, and what only the runtime knows is left to the provider as it stands (the pod's and the
// host's IPs, limits that default to the node's size, files in volumes).
type environment struct {
	configMaps   corev1listers.ConfigMapLister
	secrets      corev1listers.SecretLister
	services     corev1listers.ServiceLister
	recorder     record.EventRecorder
	skipDownward bool
}

func newEnvironment(cfg settings) *environment {
	return &environment{
		configMaps: cfg.ConfigMapInformer.Lister(), secrets: cfg.SecretInformer.Lister(),
		services: cfg.ServiceInformer.Lister(), recorder: cfg.EventRecorder, skipDownward: cfg.SkipDownwardAPIResolution,
	}
}

// resolve puts values in the place of references in the environment of every container of the pod, which it changes.
// Each container gets the variables of its sources (EnvFrom) in declared order, those of one source by name, then its own
// in declared order, then those of services by the services' names. Of several variables of one name, the last value
// counts, at the first one's place. A reference that is missing and not optional is an error.
func (e *environment) resolve(pod *corev1.Pod) error {
	services, err := e.serviceVariables(pod)
	if err != nil {
		return err
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			if c.Env, err = e.variables(pod, c, c.EnvFrom, c.Env, services); err != nil {
				return fmt.Errorf("container %q: %w", c.Name, err)
			}
			c.EnvFrom = nil
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		c := &pod.Spec.EphemeralContainers[i]
		own := corev1.Container(c.EphemeralContainerCommon)
		if c.Env, err = e.variables(pod, &own, c.EnvFrom, c.Env, services); err != nil {
			return fmt.Errorf("ephemeral container %q: %w", c.Name, err)
		}
		c.EnvFrom = nil
	}
	return nil
}

// variables is the resolved environment of one container.
func (e *environment) variables(pod *corev1.Pod, c *corev1.Container, from []corev1.EnvFromSource, own []corev1.EnvVar,
	services []corev1.EnvVar,
) ([]corev1.EnvVar, error) {
	result := &variables{at: map[string]int{}}
	for _, source := range from {
		if err := e.sourceVariables(pod, source, result); err != nil {
			return nil, err
		}
	}
	fallback := make(map[string]string, len(services))
	for _, v := range services {
		fallback[v.Name] = v.Value
	}
	for _, v := range own {
		value, keep, err := e.value(pod, c, v, func(name string) string { return result.expand(name, fallback) })
		if err != nil {
			return nil, fmt.Errorf("environment variable %q: %w", v.Name, err)
		}
		if keep {
			result.set(value)
		}
	}
	for _, v := range services {
		if _, set := result.at[v.Name]; !set {
			result.set(v)
		}
	}
	return result.list, nil
}

// value resolves one declared variable. keep is false if it is optional and missing.
func (e *environment) value(pod *corev1.Pod, c *corev1.Container, v corev1.EnvVar, mapping func(string) string) (
	resolved corev1.EnvVar, keep bool, err error,
) {
	if v.Value != "" || v.ValueFrom == nil {
		return corev1.EnvVar{Name: v.Name, Value: expand(v.Value, mapping)}, true, nil
	}
	var value string
	var found bool
	switch from := v.ValueFrom; {
	case from.ConfigMapKeyRef != nil:
		value, found, err = e.configMapKey(pod, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		value, found, err = e.secretKey(pod, from.SecretKeyRef)
	case from.FieldRef != nil && !e.skipDownward:
		if leftToProvider(from.FieldRef.FieldPath) {
			return v, true, nil
		}
		value, found, err = podField(pod, from.FieldRef.FieldPath)
	case from.ResourceFieldRef != nil && !e.skipDownward:
		if value, found, err = resourceField(pod, c, from.ResourceFieldRef); err == nil && !found {
			return v, true, nil
		}
	default:
		return v, true, nil
	}
	return corev1.EnvVar{Name: v.Name, Value: value}, found, err
}

// variables is an environment in the making.
type variables struct {
	list []corev1.EnvVar
	at   map[string]int // of each name, its place in list
}

// set adds a variable, or replaces the one of its name where it stands.
func (l *variables) set(v corev1.EnvVar) {
	if at, ok := l.at[v.Name]; ok {
		l.list[at] = v
		return
	}
	l.at[v.Name] = len(l.list)
	l.list = append(l.list, v)
}

// expand returns the value of $(name): a variable so far, else one of the fallback, else itself.
func (l *variables) expand(name string, fallback map[string]string) string {
	if at, ok := l.at[name]; ok && l.list[at].ValueFrom == nil {
		return l.list[at].Value
	}
	if value, ok := fallback[name]; ok {
		return value
	}
	return "$(" + name + ")"
}

// expand puts values in the place of references $(NAME) in the value of a variable; $$ is a dollar sign, and anything else
// stays (k8s.io/kubernetes, third_party/forked/golang/expansion/expand.go).
func expand(value string, mapping func(name string) string) string {
	if !strings.Contains(value, "$") {
		return value
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(value, '$')
		if at < 0 || at+1 == len(value) {
			out.WriteString(value)
			return out.String()
		}
		out.WriteString(value[:at])
		rest := value[at+1:]
		switch rest[0] {
		case '$':
			out.WriteByte('$')
			value = rest[1:]
			continue
		case '(':
			if end := strings.IndexByte(rest, ')'); end >= 0 {
				out.WriteString(mapping(rest[1:end]))
				value = rest[end+1:]
				continue
			}
		}
		out.WriteByte('$')
		out.WriteByte(rest[0])
		value = rest[1:]
	}
}
