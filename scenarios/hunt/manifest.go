package hunt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Manifest describes a search whose shards are the indexes of a Kubernetes Job.
type Manifest struct {
	// Name of the Job and of its ConfigMap, a DNS-1123 label.
	Name string
	// Image has nodesim as its entry point.
	Image string
	// Shards are the Job's completions, all of which run at a time.
	Shards int
	// Files of the ConfigMap by their names, which the Job's pods find in [MountPath].
	Files map[string]string
	// Args of nodesim, without those of the shard.
	Args []string
}

// MountPath is where the pods of a Manifest find its files.
const MountPath = "/hunt"

// mostFiles bounds a ConfigMap's data (k8s.io/kubernetes/pkg/apis/core, MaxSecretSize, which ValidateConfigMap uses as well).
const mostFiles = 1 << 20

// Job is the manifest as YAML: a ConfigMap with the files, and an Indexed Job. Its controller gives each pod an index, and
// kubelets put JOB_COMPLETION_INDEX into the arguments
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode). A search that finds something exits with 1,
// which fails its index and no other; a pod that is disrupted is no failure. Pods run without root, rights or a token, on a
// file system that nobody can write to: results are in their logs.
func (m *Manifest) Job() ([]byte, error) {
	size := 0
	for name, text := range m.Files {
		size += len(name) + len(text)
	}
	switch {
	case m.Image == "" || strings.ContainsAny(m.Image, " \t\r\n"):
		return nil, fmt.Errorf("image %.80q: want the name of an image with nodesim as its entry point, such as registry.example/nodesim:v1", m.Image)
	case m.Shards < 1:
		return nil, fmt.Errorf("found %s: want 1 at the least", phrase.Count(m.Shards, "shard"))
	case size > mostFiles:
		return nil, fmt.Errorf("found files of %s: want at most %s, which a ConfigMap may have", phrase.Bytes(int64(size)), phrase.Bytes(mostFiles))
	}
	files := yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		files.Content = append(files.Content, text(name), text(m.Files[name]))
	}
	args := yaml.Node{Kind: yaml.SequenceNode}
	for _, arg := range m.Args {
		args.Content = append(args.Content, text(strings.ReplaceAll(arg, "$(", "$$("))) // so that no kubelet expands it
	}
	for _, arg := range []string{"--shard", "$(JOB_COMPLETION_INDEX)/" + strconv.Itoa(m.Shards), "--output", "json"} {
		args.Content = append(args.Content, text(arg))
	}
	var out strings.Builder
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, object := range []*yaml.Node{
		mapping("apiVersion", "v1", "kind", "ConfigMap", "metadata", mapping("name", m.Name), "immutable", true, "data", &files),
		m.job(&args),
	} {
		if err := e.Encode(object); err != nil {
			return nil, err
		}
	}
	return []byte(out.String()), e.Close()
}

// job is the Job. Fail an index at once where nodesim says so, and never for a disruption (podFailurePolicy, which needs
// backoffLimitPerIndex for FailIndex, and restartPolicy Never).
func (m *Manifest) job(args *yaml.Node) *yaml.Node {
	container := mapping(
		"name", "hunt", "image", m.Image, "args", args,
		"resources", mapping("requests", mapping("cpu", "1", "memory", "512Mi"), "limits", mapping("memory", "2Gi")),
		"securityContext", mapping("allowPrivilegeEscalation", false, "readOnlyRootFilesystem", true, "capabilities", mapping("drop", list("ALL"))),
		"volumeMounts", list(mapping("name", "files", "mountPath", MountPath, "readOnly", true)),
	)
	pod := mapping(
		"restartPolicy", "Never", "automountServiceAccountToken", false, "enableServiceLinks", false,
		"securityContext", mapping("runAsNonRoot", true, "runAsUser", 65532, "runAsGroup", 65532, "seccompProfile", mapping("type", "RuntimeDefault")),
		"containers", list(container),
		"volumes", list(mapping("name", "files", "configMap", mapping("name", m.Name))),
	)
	return mapping("apiVersion", "batch/v1", "kind", "Job", "metadata", mapping("name", m.Name), "spec", mapping(
		"completionMode", "Indexed", "completions", m.Shards, "parallelism", m.Shards, "backoffLimitPerIndex", 2,
		"podFailurePolicy", mapping("rules", list(
			mapping("action", "Ignore", "onPodConditions", list(mapping("type", "DisruptionTarget", "status", "True"))),
			mapping("action", "FailIndex", "onExitCodes", mapping("operator", "In", "values", list(1, 2))),
		)),
		"template", mapping("spec", pod),
	))
}

// mapping makes a node of keys and values in turn.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, v := range pairs {
		n.Content = append(n.Content, nodeOf(v))
	}
	return n
}

func list(items ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range items {
		n.Content = append(n.Content, nodeOf(v))
	}
	return n
}

// nodeOf is a value of a manifest: text, a number, a truth value, or what mapping and list have made.
func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case *yaml.Node:
		return v
	case string:
		return text(v)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v)}
	return n
}

// text is a string, quoted where it needs to be, and as a block where it has lines.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}
