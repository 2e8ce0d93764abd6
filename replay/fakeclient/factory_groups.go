package fakeclient

import (
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
)

// byGroup are the API groups whose methods of a factory are below, so that it
// hears who asks for an informer. They are those that every supported client-go
// has. Of another group every informer that the tape has a resource for is made
// at once, before the factory inside would hand out one that isn't tracked.
var byGroup = map[string]bool{
	"admissionregistration.k8s.io": true,
	"apps":                         true,
	"autoscaling":                  true,
	"batch":                        true,
	"certificates.k8s.io":          true,
	"coordination.k8s.io":          true,
	"":                             true,
	"discovery.k8s.io":             true,
	"events.k8s.io":                true,
	"flowcontrol.apiserver.k8s.io": true,
	"networking.k8s.io":            true,
	"node.k8s.io":                  true,
	"policy":                       true,
	"rbac.authorization.k8s.io":    true,
	"resource.k8s.io":              true,
	"scheduling.k8s.io":            true,
	"storage.k8s.io":               true,
}

// Each of these is as in client-go's informers/factory.go, with the tracking
// factory in the place of the one inside.

func (f *factory) Admissionregistration() admissionregistration.Interface {
	return admissionregistration.New(f, "", nil)
}
func (f *factory) Apps() apps.Interface                 { return apps.New(f, "", nil) }
func (f *factory) Autoscaling() autoscaling.Interface   { return autoscaling.New(f, "", nil) }
func (f *factory) Batch() batch.Interface               { return batch.New(f, "", nil) }
func (f *factory) Certificates() certificates.Interface { return certificates.New(f, "", nil) }
func (f *factory) Coordination() coordination.Interface { return coordination.New(f, "", nil) }
func (f *factory) Core() core.Interface                 { return core.New(f, "", nil) }
func (f *factory) Discovery() discovery.Interface       { return discovery.New(f, "", nil) }
func (f *factory) Events() events.Interface             { return events.New(f, "", nil) }
func (f *factory) Flowcontrol() flowcontrol.Interface   { return flowcontrol.New(f, "", nil) }
func (f *factory) Networking() networking.Interface     { return networking.New(f, "", nil) }
func (f *factory) Node() node.Interface                 { return node.New(f, "", nil) }
func (f *factory) Policy() policy.Interface             { return policy.New(f, "", nil) }
func (f *factory) Rbac() rbac.Interface                 { return rbac.New(f, "", nil) }
func (f *factory) Resource() resource.Interface         { return resource.New(f, "", nil) }
func (f *factory) Scheduling() scheduling.Interface     { return scheduling.New(f, "", nil) }
func (f *factory) Storage() storage.Interface           { return storage.New(f, "", nil) }
