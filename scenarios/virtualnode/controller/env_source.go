package controller

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Reasons of the Events about a pod's environment.
const (
	reasonOptionalConfigMapNotFound     = "OptionalConfigMapNotFound"
	reasonOptionalConfigMapKeyNotFound  = "OptionalConfigMapKeyNotFound"
	reasonOptionalSecretNotFound        = "OptionalSecretNotFound"
	reasonOptionalSecretKeyNotFound     = "OptionalSecretKeyNotFound"
	reasonMandatoryConfigMapNotFound    = "MandatoryConfigMapNotFound"
	reasonMandatoryConfigMapKeyNotFound = "MandatoryConfigMapKeyNotFound"
	reasonMandatorySecretNotFound       = "MandatorySecretNotFound"
	reasonMandatorySecretKeyNotFound    = "MandatorySecretKeyNotFound"
	reasonInvalidVariableNames          = "InvalidEnvironmentVariableNames"
)

// sourceVariables adds the variables of a whole config map or secret, by name.
func (e *environment) sourceVariables(pod *corev1.Pod, from corev1.EnvFromSource, result *variables) error {
	var data map[string]string
	switch {
	case from.ConfigMapRef != nil:
		cm, err := e.configMap(pod, from.ConfigMapRef.Name, optional(from.ConfigMapRef.Optional))
		if cm == nil || err != nil {
			return err
		}
		data = cm.Data
	case from.SecretRef != nil:
		secret, err := e.secret(pod, from.SecretRef.Name, optional(from.SecretRef.Optional))
		if secret == nil || err != nil {
			return err
		}
		data = make(map[string]string, len(secret.Data))
		for key, value := range secret.Data {
			data[key] = string(value)
		}
	}
	var invalid []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		name := from.Prefix + key
		if len(validation.IsRelaxedEnvVarName(name)) > 0 {
			invalid = append(invalid, name)
			continue
		}
		result.set(corev1.EnvVar{Name: name, Value: data[key]})
	}
	if len(invalid) > 0 {
		e.recorder.Eventf(pod, corev1.EventTypeWarning, reasonInvalidVariableNames,
			"keys %q can't be environment variables and are left out", invalid)
	}
	return nil
}

// configMapKey is the value of a key of a config map; found is false if it is optional and missing.
func (e *environment) configMapKey(pod *corev1.Pod, ref *corev1.ConfigMapKeySelector) (value string, found bool, err error) {
	cm, err := e.configMap(pod, ref.Name, optional(ref.Optional))
	if cm == nil || err != nil {
		return "", false, err
	}
	if value, found = cm.Data[ref.Key]; found {
		return value, true, nil
	}
	return "", false, e.missing(pod, optional(ref.Optional), reasonOptionalConfigMapKeyNotFound,
		reasonMandatoryConfigMapKeyNotFound, fmt.Sprintf("config map %s/%s has no key %q", pod.Namespace, ref.Name, ref.Key))
}

// secretKey is the value of a key of a secret; found is false if it is optional and missing.
func (e *environment) secretKey(pod *corev1.Pod, ref *corev1.SecretKeySelector) (value string, found bool, err error) {
	secret, err := e.secret(pod, ref.Name, optional(ref.Optional))
	if secret == nil || err != nil {
		return "", false, err
	}
	if bytes, found := secret.Data[ref.Key]; found {
		return string(bytes), true, nil
	}
	return "", false, e.missing(pod, optional(ref.Optional), reasonOptionalSecretKeyNotFound,
		reasonMandatorySecretKeyNotFound, fmt.Sprintf("secret %s/%s has no key %q", pod.Namespace, ref.Name, ref.Key))
}

// configMap reads a config map of the pod's namespace; nil without an error if it is optional and missing.
func (e *environment) configMap(pod *corev1.Pod, name string, optional bool) (*corev1.ConfigMap, error) {
	cm, err := e.configMaps.ConfigMaps(pod.Namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, e.missing(pod, optional, reasonOptionalConfigMapNotFound, reasonMandatoryConfigMapNotFound,
			fmt.Sprintf("config map %s/%s not found", pod.Namespace, name))
	}
	return cm, err
}

// secret reads a secret of the pod's namespace; nil without an error if it is optional and missing.
func (e *environment) secret(pod *corev1.Pod, name string, optional bool) (*corev1.Secret, error) {
	secret, err := e.secrets.Secrets(pod.Namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, e.missing(pod, optional, reasonOptionalSecretNotFound, reasonMandatorySecretNotFound,
			fmt.Sprintf("secret %s/%s not found", pod.Namespace, name))
	}
	return secret, err
}

// missing tells of what is missing in an Event; what isn't optional is an error too.
func (e *environment) missing(pod *corev1.Pod, optional bool, asOptional, asMandatory, what string) error {
	if optional {
		e.recorder.Event(pod, corev1.EventTypeWarning, asOptional, what)
		return nil
	}
	e.recorder.Event(pod, corev1.EventTypeWarning, asMandatory, what)
	return NotFoundf("%s: create it, or mark the reference optional", what)
}

// optional reads the mark of a reference.
func optional(mark *bool) bool { return mark != nil && *mark }
