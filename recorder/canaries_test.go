package recorder_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/rest"
)

// hidden is in each of the objects below, wherever a secret may be that no
// name or shape gives away.
const hidden = "hunter2-do-not-record"

// shaped are credentials of known shapes, which are masked where a string is kept.
var shaped = []string{
	"user:" + hidden + "@registry.example", "https://user:" + hidden + "@registry.example/v2/", "AKIAHUNTER2HUNTER2HU",
	"abcdef.hunter2hunter2hu", "ghp_hunter2hunter2hunter2hunter2hunter2", "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----",
	"eyJodW50ZXIy.eyJodW50ZXIy.aHVudGVyMg", "password=hunter2", "Authorization: Bearer hunter2-hunter2", `{"auths":{"r":{"auth":"hunter2"}}}`,
}

// canaries are kinds with the parts of their objects in which HIDDEN stands:
// one object each, all of whose fields came to the tape once or could have.
var canaries = []struct{ apiVersion, kind, body string }{
	{"v1", "Node", `"spec":{"providerID":"aws:///a/i-1","configSource":{"configMap":{"name":"HIDDEN"}}},"status":{"images":[{"names":["SHAPED/app:1"]}],"conditions":[{"type":"Ready","status":"True","message":"SHAPED"}]}`},
	{"v1", "Pod", `"spec":{"containers":[{"name":"a","image":"SHAPED/app:1","env":[{"name":"A","value":"HIDDEN"}],"args":["HIDDEN"],"lifecycle":{"preStop":{"exec":{"command":["HIDDEN"]}}}}],"hostAliases":[{"ip":"HIDDEN"}],"imagePullSecrets":[{"name":"HIDDEN"}],"volumes":[{"name":"v","csi":{"volumeAttributes":{"a":"HIDDEN"}}}]},"status":{"message":"SHAPED","containerStatuses":[{"name":"a","image":"SHAPED/app:1","state":{"terminated":{"message":"HIDDEN"}}}]}`},
	{"v1", "Event", `"involvedObject":{"kind":"Pod","name":"a"},"message":"Failed to pull image \"SHAPED/app:1\"","note":"SHAPED","x":"HIDDEN"`},
	{"events.k8s.io/v1", "Event", `"regarding":{"kind":"Pod","name":"a"},"note":"SHAPED","x":"HIDDEN"`},
	{"v1", "ConfigMap", `"data":{"a":"HIDDEN"},"binaryData":{"b":"HIDDEN"}`},
	{"v1", "Namespace", `"spec":{"finalizers":["kubernetes"]},"status":{"conditions":[{"type":"A","status":"True","message":"SHAPED"}]}`},
	{"v1", "Service", `"spec":{"externalName":"HIDDEN","type":"ExternalName"}`},
	{"v1", "ServiceAccount", `"secrets":[{"name":"HIDDEN"}],"imagePullSecrets":[{"name":"HIDDEN"}]`},
	{"v1", "PersistentVolume", `"spec":{"csi":{"driver":"d","volumeHandle":"HIDDEN","volumeAttributes":{"a":"HIDDEN"},"nodeStageSecretRef":{"name":"HIDDEN"}},"nfs":{"server":"HIDDEN","path":"HIDDEN"},"mountOptions":["HIDDEN"]},"status":{"message":"SHAPED"}`},
	{"v1", "PersistentVolumeClaim", `"spec":{"volumeName":"a","dataSource":{"name":"HIDDEN"}}`},
	{"v1", "ReplicationController", `"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b","env":[{"value":"HIDDEN"}]}]}}}`},
	{"v1", "PodTemplate", `"template":{"spec":{"containers":[{"name":"a","command":["HIDDEN"]}]}}`},
	{"apps/v1", "Deployment", `"spec":{"template":{"metadata":{"annotations":{"x":"HIDDEN"}},"spec":{"containers":[{"name":"a","image":"SHAPED/app:1","env":[{"value":"HIDDEN"}]}]}}}`},
	{"apps/v1", "ReplicaSet", `"spec":{"template":{"spec":{"initContainers":[{"name":"a","command":["HIDDEN"]}]}}}`},
	{"apps/v1", "StatefulSet", `"spec":{"template":{"spec":{"containers":[{"name":"a","args":["HIDDEN"]}]}},"volumeClaimTemplates":[{"metadata":{"annotations":{"x":"HIDDEN"}}}]}`},
	{"apps/v1", "DaemonSet", `"spec":{"template":{"spec":{"ephemeralContainers":[{"name":"a","env":[{"value":"HIDDEN"}]}]}}}`},
	{"apps/v1", "ControllerRevision", `"data":{"spec":{"template":{"env":"HIDDEN"}}}`},
	{"batch/v1", "Job", `"spec":{"template":{"spec":{"containers":[{"name":"a","command":["HIDDEN"]}]}}}`},
	{"batch/v1", "CronJob", `"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a","command":["HIDDEN"]}]}}}}}`},
	{"policy/v1", "PodDisruptionBudget", `"spec":{"selector":{"matchLabels":{"app":"a"}}},"status":{"conditions":[{"type":"A","status":"True","message":"SHAPED"}]},"x":"HIDDEN"`},
	{"storage.k8s.io/v1", "StorageClass", `"provisioner":"p","parameters":{"adminSecret":"HIDDEN","a":"HIDDEN"},"mountOptions":["HIDDEN"]`},
	{"storage.k8s.io/v1", "VolumeAttachment", `"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"p","inlineVolumeSpec":{"csi":{"volumeHandle":"HIDDEN"}}}},"status":{"attached":true,"attachmentMetadata":{"a":"HIDDEN"},"attachError":{"message":"SHAPED"}}`},
	{"storage.k8s.io/v1", "VolumeAttributesClass", `"driverName":"d","parameters":{"a":"HIDDEN"}`},
	{"certificates.k8s.io/v1", "CertificateSigningRequest", `"spec":{"request":"HIDDEN","extra":{"a":["HIDDEN"]},"signerName":"s"},"status":{"certificate":"HIDDEN"}`},
	{"cert-manager.io/v1", "CertificateRequest", `"spec":{"request":"HIDDEN"},"status":{"certificate":"HIDDEN","ca":"HIDDEN"}`},
	{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", `"webhooks":[{"clientConfig":{"url":"SHAPED","caBundle":"HIDDEN"}}]`},
	{"cluster.x-k8s.io/v1beta1", "Machine", `"spec":{"clusterName":"c","bootstrap":{"data":"HIDDEN","dataSecretName":"HIDDEN"}},"status":{"failureMessage":"SHAPED"}`},
	{"cluster.x-k8s.io/v1beta1", "MachineDeployment", `"spec":{"template":{"metadata":{"annotations":{"cluster.x-k8s.io/x":"HIDDEN"}},"spec":{"bootstrap":{"data":"HIDDEN"}}}}`},
	{"cluster.x-k8s.io/v1beta1", "MachinePool", `"spec":{"template":{"spec":{"bootstrap":{"data":"HIDDEN"}}}}`},
	{"cluster.x-k8s.io/v1beta1", "Cluster", `"spec":{"topology":{"variables":[{"name":"a","value":"HIDDEN"}]}}`},
	{"bootstrap.cluster.x-k8s.io/v1beta1", "KubeadmConfig", `"spec":{"files":[{"content":"HIDDEN"}],"preKubeadmCommands":["HIDDEN"],"users":[{"name":"a","passwd":"HIDDEN"}]}`},
	{"controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane", `"spec":{"version":"v1","kubeadmConfigSpec":{"files":[{"content":"HIDDEN"}],"joinConfiguration":{"discovery":{"bootstrapToken":{"token":"HIDDEN"}}}}}`},
	{"kops.k8s.io/v1alpha2", "InstanceGroup", `"spec":{"role":"Node","additionalUserData":[{"name":"a","content":"HIDDEN"}],"fileAssets":[{"content":"HIDDEN"}],"kubelet":{"a":"HIDDEN"}}`},
	{"karpenter.sh/v1", "NodePool", `"spec":{"template":{"metadata":{"annotations":{"karpenter.sh/x":"HIDDEN"}},"spec":{"kubelet":{"a":"HIDDEN"}}}}`},
	{"karpenter.sh/v1", "NodeClaim", `"spec":{"x":"HIDDEN"},"status":{"conditions":[{"type":"Launched","status":"False","message":"SHAPED"}]}`},
	{"karpenter.k8s.aws/v1", "EC2NodeClass", `"spec":{"amiFamily":"AL2023","userData":"HIDDEN","tags":{"a":"HIDDEN"},"context":"HIDDEN"}`},
	{"machine.openshift.io/v1beta1", "Machine", `"spec":{"providerSpec":{"value":{"userDataSecret":{"name":"HIDDEN"},"metadata":{"a":"HIDDEN"}}}}`},
	{"machineconfiguration.openshift.io/v1", "MachineConfig", `"spec":{"config":{"passwd":{"users":[{"passwordHash":"HIDDEN"}]},"storage":{"files":[{"contents":{"source":"HIDDEN"}}]}}}`},
	{"argoproj.io/v1alpha1", "Application", `"spec":{"source":{"repoURL":"SHAPED","helm":{"parameters":[{"name":"a","value":"HIDDEN"}],"values":"HIDDEN"}}},"status":{"conditions":[{"type":"A","message":"SHAPED"}]},"operation":{"sync":{"revision":"HIDDEN"}}`},
	{"tekton.dev/v1", "PipelineRun", `"spec":{"params":[{"name":"a","value":"HIDDEN"}]},"status":{"pipelineSpec":{"params":["HIDDEN"]}}`},
	{"tekton.dev/v1", "TaskRun", `"spec":{"params":[{"name":"a","value":"HIDDEN"}]},"status":{"results":[{"name":"a","value":"HIDDEN"}]}`},
	{"example.com/v1", "Farm", `"spec":{"nodes":"HIDDEN","apiToken":"HIDDEN"},"status":{"a":"HIDDEN","conditions":[{"type":"A","status":"True","message":"SHAPED"}]},"data":{"a":"HIDDEN"}`},
}

// canaryObject is an object with one credential of a known shape, and with the
// canary in annotations under the prefixes of those that are kept.
func canaryObject(i int, secret string) (resource, object string) {
	k := canaries[i]
	quoted, _ := json.Marshal(secret) // a string
	name := fmt.Sprintf("%s-%d", strings.ToLower(k.kind), i)
	notes := ""
	for _, prefix := range []string{"node.kubernetes.io", "karpenter.sh", "karpenter.k8s.aws", "cluster.x-k8s.io", "kops.k8s.io", "nodesim.dev", "agentbox.navix.sh/inplace-x", "eks.amazonaws.com/nodegroup-x", "kubectl.kubernetes.io"} {
		if !strings.Contains(prefix, "/") {
			prefix += "/last-applied-configuration"
		}
		notes += `"` + prefix + `":"` + hidden + `",`
	}
	object = `{"kind":"` + k.kind + `","apiVersion":"` + k.apiVersion + `","metadata":{"name":"` + name + `","namespace":"default","uid":"` + name + `","resourceVersion":"9",
		"managedFields":[{"manager":"` + hidden + `"}],"labels":{"l":"SHAPED"},"annotations":{` + notes + `"csi.volume.kubernetes.io/nodeid":"SHAPED"}},` +
		strings.ReplaceAll(k.body, "HIDDEN", hidden) + `}`
	plural := strings.ToLower(k.kind) + "s"
	switch {
	case strings.HasSuffix(k.kind, "s"):
		plural = strings.ToLower(k.kind) + "es"
	}
	return plural, strings.ReplaceAll(object, "SHAPED", string(quoted[1:len(quoted)-1]))
}

func noCanary(t *testing.T, tape string) {
	t.Helper()
	lower := strings.ToLower(tape)
	for _, word := range []string{"hunter2", "bmv0ywxs", "ahvudgvy", "odw50zxiy"} { // and in base64
		if i := strings.Index(lower, word); i >= 0 {
			t.Errorf("found a canary: …%s…", tape[max(0, i-200):min(len(tape), i+60)])
		}
	}
}

// No default import has a canary of any kind on its tape, and each object is
// there all the same. The header says what was done.
func TestImportHasNoCanaries(t *testing.T) {
	for _, secret := range shaped {
		var dump strings.Builder
		for i := range canaries {
			_, object := canaryObject(i, secret)
			dump.WriteString(`{"type":"ADDED","object":` + strings.ReplaceAll(object, "\n", "") + "}\n")
		}
		_, tape, err := imported(t, dump.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		noCanary(t, tape)
		for i, k := range canaries {
			if name := fmt.Sprintf(`"name":"%s-%d"`, strings.ToLower(k.kind), i); !strings.Contains(tape, name) {
				t.Errorf("found no object %s", name)
			}
		}
		for _, line := range timeline.DefaultRedaction().Paths() {
			if !strings.Contains(tape, strings.ReplaceAll(line, `"`, ``)) && !strings.Contains(tape, line) {
				t.Errorf("the header doesn't say %q", line)
			}
		}
		if strings.Count(tape, "redacted") < len(canaries) {
			t.Errorf("%s: masked %d times, want it in each object", secret, strings.Count(tape, "redacted"))
		}
		if _, full, err := imported(t, dump.String(), func(o *recorder.ImportOptions) { o.Full = true }); err != nil || !strings.Contains(full, hidden) ||
			secret != shaped[0] && strings.Contains(full, strings.Trim(secret, "{}")) {
			t.Errorf("%v: want a full tape with what has no shape, and without %s", err, secret)
		}
	}
}

// canaryServer serves one object of each kind, as a list and as a change.
func canaryServer(secret string) http.Handler {
	groups := map[string][]int{}
	for i, k := range canaries {
		groups[k.apiVersion] = append(groups[k.apiVersion], i)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		switch {
		case r.URL.Path == "/version":
			_, _ = fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`)
			return
		case r.URL.Path == "/api":
			_, _ = fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
			return
		case r.URL.Path == "/apis":
			var list []string
			for gv := range groups {
				if group, version, ok := strings.Cut(gv, "/"); ok {
					v := fmt.Sprintf(`{"groupVersion":%q,"version":%q}`, gv, version)
					list = append(list, fmt.Sprintf(`{"name":%q,"versions":[%s],"preferredVersion":%s}`, group, v, v))
				}
			}
			_, _ = fmt.Fprintf(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[%s]}`, strings.Join(list, ","))
			return
		case len(path) < 2:
			http.NotFound(w, r)
			return
		}
		gv, rest := path[1], path[2:]
		if path[0] == "apis" && len(path) > 2 {
			gv, rest = path[1]+"/"+path[2], path[3:]
		}
		if len(rest) == 0 {
			var list []string
			for _, i := range groups[gv] {
				plural, _ := canaryObject(i, "")
				list = append(list, fmt.Sprintf(`{"name":%q,"singularName":"","namespaced":true,"kind":%q,"verbs":["list","watch","get"]}`, plural, canaries[i].kind))
			}
			_, _ = fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[%s]}`, gv, strings.Join(list, ","))
			return
		}
		for _, i := range groups[gv] {
			plural, object := canaryObject(i, secret)
			if rest[len(rest)-1] != plural {
				continue
			}
			if r.URL.Query().Get("watch") == "" {
				_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[%s]}`, object)
				return
			}
			changed := strings.NewReplacer(`"resourceVersion":"9"`, `"resourceVersion":"11"`, `"labels":{`, `"labels":{"changed":"yes",`, "\n", "").Replace(object)
			_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`+"\n", changed)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		http.NotFound(w, r)
	})
}

// The same of what is recorded from a server: what its lists hold, and what
// its watches.
func TestRecordHasNoCanaries(t *testing.T) {
	for _, secret := range shaped {
		server := httptest.NewServer(canaryServer(secret))
		var resources []string
		seen := map[string]bool{}
		for i, k := range canaries {
			plural, _ := canaryObject(i, secret)
			if group, _, ok := strings.Cut(k.apiVersion, "/"); ok {
				plural += "." + group
			}
			if !seen[plural] {
				seen[plural] = true
				resources = append(resources, plural)
			}
		}
		var tape strings.Builder
		changed := 0
		rec, err := recorder.New(recorder.Config{
			REST: &rest.Config{Host: server.URL}, Name: "canaries", Resources: resources,
			Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.NewWriter(&tape, h) },
			Stop: func(ev timeline.Event) bool {
				if ev.Type == timeline.Modified {
					changed++
				}
				return changed == len(resources)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rec.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.CloseClientConnections()
		server.Close()
		noCanary(t, tape.String())
		if n := strings.Count(tape.String(), `"type":"ADDED"`); n != len(resources) || !strings.Contains(tape.String(), "redaction:") {
			t.Errorf("found %d objects, want %d, and what was redacted in the header:\n%.600s", n, len(resources), tape.String())
		}
	}
}
