package metrics

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// Options say where to listen and under which names to register. The zero value is a free port of 127.0.0.1.
type Options struct {
	// Address is host:port; "" is 127.0.0.1:0. The API server must reach that host, unless Host says otherwise.
	Address string
	// Host is the IPv4 address or the name by which the API server reaches the listener, where that isn't the host of
	// Address: one of all addresses, or one in a network that translates addresses.
	Host string
	// Namespace and Name are those of the Service; "" are kube-system and nodesim-metrics.
	Namespace, Name string
	// ClientCA, in PEM, lets in only who shows a certificate of it, for kube-apiserver that of --proxy-client-cert-file.
	ClientCA []byte
}

func (o Options) withDefaults() Options {
	if o.Namespace == "" {
		o.Namespace = metav1.NamespaceSystem
	}
	if o.Name == "" {
		o.Name = "nodesim-metrics"
	}
	return o
}

// apiServiceName is the only name that an APIService of this group's version can have.
const apiServiceName = "v1beta1." + groupName

// takeBackWithin bounds how long a failed Register tries to remove what it has written.
const takeBackWithin = 3 * time.Second

// What says that an object is ours, so that it may be overwritten and removed.
const (
	managedBy = "app.kubernetes.io/managed-by"
	manager   = "nodesim"
)

var (
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// TakenError says that the API server has an object of that name that isn't ours, and which therefore stays.
type TakenError struct {
	// Kind and Name are the object's, By is its target, if it has one.
	Kind, Name, By string
}

func (e *TakenError) Error() string {
	by := ""
	if e.By != "" {
		by = " of " + e.By
	}
	return fmt.Sprintf("%s %s: found one%s, want none or one labelled %s=%s; kubectl top still asks that one", e.Kind, e.Name, by, managedBy, manager)
}

// Registration is a listener that the API server knows.
type Registration struct {
	client  dynamic.Interface
	server  *api.Server
	written []written
}

// written is one object that Register wrote.
type written struct {
	at        dynamic.ResourceInterface
	kind, key string
	uid       types.UID
}

// Register listens, and writes the Service and the APIService by which the API server finds the listener. What an
// earlier run has left is overwritten; what isn't ours stays, and a *TakenError says so. The caller calls Close. The
// listener's requests end with ctx.
//
// It takes the API server a moment to see the APIService as available; [Registration.Available] waits for that.
func Register(ctx context.Context, config *rest.Config, source Source, o Options) (*Registration, error) {
	o = o.withDefaults()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	// Before anything else, lest we write a Service for nothing.
	if _, err := free(ctx, client.Resource(apiServices), "APIService", apiServiceName); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	server, err := api.Listen(ctx, Handler(source), api.ServeOptions{
		Address: o.Address, ClientCA: o.ClientCA, Names: []string{o.Name + "." + o.Namespace + ".svc"}, // which the aggregator asks for
	})
	if err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	r := &Registration{client: client, server: server}
	err = r.write(ctx, client.Resource(services).Namespace(o.Namespace), "Service", service(o, server))
	if err == nil {
		err = r.write(ctx, client.Resource(apiServices), "APIService", apiService(o, server))
	}
	if err != nil {
		late, enough := context.WithTimeout(context.WithoutCancel(ctx), takeBackWithin)
		defer enough()
		return nil, fmt.Errorf("register metrics: %w", errors.Join(err, r.Close(late)))
	}
	return r, nil
}

// askEvery is how often Available looks.
const askEvery = time.Second

// Available waits until the API server has reached the listener. An error says why it hasn't, when ctx has ended.
func (r *Registration) Available(ctx context.Context, c clock.Clock) error {
	var why error
	for {
		found, err := r.client.Resource(apiServices).Get(ctx, apiServiceName, metav1.GetOptions{})
		if err == nil {
			err = unavailable(found)
		}
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			why = err
		}
		if retry.Pause(ctx, c, askEvery) != nil {
			return fmt.Errorf("APIService %s isn't available: %w", apiServiceName, errors.Join(why, context.Cause(ctx)))
		}
	}
}

// unavailable is why an APIService isn't available, nil where it is.
func unavailable(found *unstructured.Unstructured) error {
	conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		switch {
		case c["type"] != "Available":
		case c["status"] == string(metav1.ConditionTrue):
			return nil
		default:
			message, _ := c["message"].(string)
			return errors.New(message)
		}
	}
	return errors.New("the API server hasn't tried it yet")
}

// Close removes what Register wrote, the last first, and closes the listener. Objects that are gone or were created again
// are left alone. After an error it may be called again: it continues with what is left.
func (r *Registration) Close(ctx context.Context) error {
	var refused error
	for len(r.written) > 0 && refused == nil {
		w := r.written[len(r.written)-1]
		if refused = remove(ctx, w.at, w.kind, w.key, w.uid); refused == nil {
			r.written = r.written[:len(r.written)-1]
		}
	}
	return errors.Join(refused, r.server.Close(ctx))
}

// Unregister removes what a Register with the same options has left whose process was killed: an APIService without a
// server keeps namespaces from being deleted (k8s.io/kubernetes, pkg/controller/namespace/deletion: the discovery of
// all groups comes first). What isn't ours stays, which is no error.
func Unregister(ctx context.Context, client dynamic.Interface, o Options) error {
	o = o.withDefaults()
	at := client.Resource(apiServices)
	found, err := at.Get(ctx, apiServiceName, metav1.GetOptions{})
	if err == nil && found.GetLabels()[managedBy] == manager && reference(found) == o.Namespace+"/"+o.Name {
		err = remove(ctx, at, "APIService", apiServiceName, found.GetUID())
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("unregister metrics: %w", err)
	}
	// Only then: what the APIService names says that there may be one.
	in := client.Resource(services).Namespace(o.Namespace)
	found, err = in.Get(ctx, o.Name, metav1.GetOptions{})
	if err == nil && found.GetLabels()[managedBy] == manager {
		err = remove(ctx, in, "Service", o.Name, found.GetUID())
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("unregister metrics: %w", err)
	}
	return nil
}

// remove deletes an object, if it is still that one.
func remove(ctx context.Context, at dynamic.ResourceInterface, kind, name string, uid types.UID) error {
	err := at.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("remove %s %s: %w", kind, name, err)
	}
	return nil
}

// free is an error if there is an object of that name that isn't ours. One that is ours is returned, nil if there is none.
func free(ctx context.Context, at dynamic.ResourceInterface, kind, name string) (ours *unstructured.Unstructured, err error) {
	found, err := at.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s: %w", kind, name, err)
	case found.GetLabels()[managedBy] != manager:
		return nil, &TakenError{Kind: kind, Name: name, By: reference(found)}
	}
	return found, nil
}

// reference is the Service that an APIService names.
func reference(found *unstructured.Unstructured) string {
	namespace, _, _ := unstructured.NestedString(found.Object, "spec", "service", "namespace")
	name, _, _ := unstructured.NestedString(found.Object, "spec", "service", "name")
	if name == "" {
		return ""
	}
	return namespace + "/" + name
}

// write creates an object, or overwrites ours.
func (r *Registration) write(ctx context.Context, at dynamic.ResourceInterface, kind string, object *unstructured.Unstructured) error {
	made, err := at.Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		ours, taken := free(ctx, at, kind, object.GetName())
		if taken != nil {
			return taken
		}
		if ours != nil { // else it goes just now
			object.SetResourceVersion(ours.GetResourceVersion())
			made, err = at.Update(ctx, object, metav1.UpdateOptions{})
		}
	}
	if err != nil {
		return fmt.Errorf("write %s %s: %w", kind, object.GetName(), err)
	}
	r.written = append(r.written, written{at: at, kind: kind, key: made.GetName(), uid: made.GetUID()})
	return nil
}

func service(o Options, server *api.Server) *unstructured.Unstructured {
	host, port := endpoint(server)
	if o.Host != "" {
		host = o.Host
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"namespace": o.Namespace, "name": o.Name, "labels": map[string]any{managedBy: manager}},
		"spec": map[string]any{
			"type": string(corev1.ServiceTypeExternalName), "externalName": host,
			"ports": []any{map[string]any{"name": "https", "port": port}},
		},
	}}
}

func apiService(o Options, server *api.Server) *unstructured.Unstructured {
	_, port := endpoint(server)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": apiServiceName, "labels": map[string]any{managedBy: manager}},
		"spec": map[string]any{
			"group": groupName, "version": "v1beta1",
			"groupPriorityMinimum": int64(100), "versionPriority": int64(100), // as metrics-server's
			"caBundle": base64.StdEncoding.EncodeToString(bundle),
			"service":  map[string]any{"namespace": o.Namespace, "name": o.Name, "port": port},
		},
	}}
}

// endpoint is the listener's host and port.
func endpoint(server *api.Server) (host string, port int64) {
	host, text, err := net.SplitHostPort(server.Address())
	if err != nil {
		return "", 0 // not of a listener
	}
	port, err = strconv.ParseInt(text, 10, 32)
	if err != nil {
		return "", 0
	}
	return host, port
}
