package shards

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Job describes a work whose shards are the indexes of a Kubernetes Job.
type Job struct {
	// Name of the Job and of its ConfigMap, a DNS-1123 label, and Container that of the pods' container.
	Name, Container string
	// Image has nodesim as its entry point.
	Image string
	// Shards are the Job's completions, all of which run at a time.
	Shards int
	// Files of the ConfigMap by their names, which the Job's pods find in the folder FilesAt.
	Files   map[string]string
	FilesAt string
	// Scratch is a folder in an empty volume, where the pods may write; "" where they write no file.
	Scratch string
	// Claim is a PersistentVolumeClaim that the pods read in the folder ClaimAt; "" for none.
	Claim, ClaimAt string
	// Secret is one whose keys are variables of the pods' environment, and ServiceAccount what they run as; "" for none and the
	// namespace's default.
	Secret, ServiceAccount string
	// Args of nodesim, without those of the shard.
	Args []string
}

// mostFiles bounds a ConfigMap's data (k8s.io/kubernetes/pkg/apis/core, MaxSecretSize, which ValidateConfigMap uses as well).
const mostFiles = 1 << 20

// retries is how often an index begins again after a failure that is neither a disruption nor nodesim's own word: as often as a Job
// without a backoffLimit (k8s.io/kubernetes/pkg/apis/batch/v1, SetDefaults_Job).
const retries = 6

// What nodesim's exit status says: 1 is a result that isn't as expected, 2 wrong usage. Neither changes when it is tried again.
const (
	exitFailed = 1
	exitUsage  = 2
)

// File adds a file that the pods find, and a flag that names it.
func (j *Job) File(flag, name string, text []byte) {
	j.Files[name] = string(text)
	j.Args = append(j.Args, flag, j.FilesAt+"/"+name)
}

// YAML is the manifest: a ConfigMap with the files, and an Indexed Job. Its controller gives each pod an index, and kubelets put
// JOB_COMPLETION_INDEX into the arguments (https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode). Pods run
// without root, rights or a token, on a file system that nobody can write to but in Scratch: results are in their logs.
func (j *Job) YAML() ([]byte, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	files := mapping()
	for _, name := range slices.Sorted(maps.Keys(j.Files)) {
		files.Content = append(files.Content, text(name), text(j.Files[name]))
	}
	var out strings.Builder
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	for _, object := range []*yaml.Node{
		mapping("apiVersion", "v1", "kind", "ConfigMap", "metadata", mapping("name", j.Name), "immutable", true, "data", files),
		j.job(),
	} {
		if err := e.Encode(object); err != nil {
			return nil, err
		}
	}
	return []byte(out.String()), e.Close()
}

func (j *Job) check() error {
	size := 0
	for name, text := range j.Files {
		size += len(name) + len(text)
	}
	// The name of an index's pod begins so, and is a label in DNS (k8s.io/kubernetes/pkg/apis/batch/validation, ValidateJobSpec).
	longest := fmt.Sprintf("%s-%d", j.Name, j.Shards-1)
	switch {
	case j.Name != "" && len(validation.IsDNS1123Label(longest)) > 0:
		return fmt.Errorf("name %.80q: want small letters, digits and dashes, at most %d, as its pods are called %.80s", j.Name, validation.DNS1123LabelMaxLength-len(longest)+len(j.Name), longest)
	case j.Image == "" || strings.ContainsAny(j.Image, " \t\r\n"):
		return fmt.Errorf("image %.80q: want the name of an image with nodesim as its entry point, such as registry.example/nodesim:v1", j.Image)
	case j.Shards < 1 || j.Shards > most:
		return fmt.Errorf("found %s: want 1 at the least, and %d at most", phrase.Count(j.Shards, "shard"), most)
	case size > mostFiles:
		return fmt.Errorf("found files of %s: want at most %s, which a ConfigMap may have", phrase.Bytes(int64(size)), phrase.Bytes(mostFiles))
	}
	return nil
}

// job is the Job. It fails an index at once where nodesim says so, and never for a disruption (podFailurePolicy, whose FailIndex needs
// backoffLimitPerIndex, and restartPolicy Never). What is neither, such as a node that was lost or a store that didn't answer, is
// tried again.
func (j *Job) job() *yaml.Node {
	return mapping("apiVersion", "batch/v1", "kind", "Job", "metadata", mapping("name", j.Name), "spec", mapping(
		"completionMode", "Indexed", "completions", j.Shards, "parallelism", j.Shards, "backoffLimitPerIndex", retries,
		"podFailurePolicy", mapping("rules", list(
			mapping("action", "Ignore", "onPodConditions", list(mapping("type", "DisruptionTarget", "status", "True"))),
			mapping("action", "FailIndex", "onExitCodes", mapping("operator", "In", "values", list(exitFailed, exitUsage))),
		)),
		"template", mapping("spec", j.pod()),
	))
}

func (j *Job) pod() *yaml.Node {
	mounts := list(mapping("name", "files", "mountPath", j.FilesAt, "readOnly", true))
	volumes := list(mapping("name", "files", "configMap", mapping("name", j.Name)))
	container := mapping("name", j.Container, "image", j.Image, "args", j.args())
	if j.Scratch != "" {
		mounts.Content = append(mounts.Content, mapping("name", "scratch", "mountPath", j.Scratch))
		volumes.Content = append(volumes.Content, mapping("name", "scratch", "emptyDir", mapping()))
		add(container, "env", list(mapping("name", "TMPDIR", "value", j.Scratch)))
	}
	if j.Claim != "" {
		mounts.Content = append(mounts.Content, mapping("name", "claim", "mountPath", j.ClaimAt, "readOnly", true))
		volumes.Content = append(volumes.Content, mapping("name", "claim", "persistentVolumeClaim", mapping("claimName", j.Claim, "readOnly", true)))
	}
	if j.Secret != "" {
		add(container, "envFrom", list(mapping("secretRef", mapping("name", j.Secret))))
	}
	add(container,
		"resources", mapping("requests", mapping("cpu", "1", "memory", "512Mi"), "limits", mapping("memory", "2Gi")),
		"securityContext", mapping("allowPrivilegeEscalation", false, "readOnlyRootFilesystem", true, "capabilities", mapping("drop", list("ALL"))),
		"volumeMounts", mounts,
	)
	pod := mapping("restartPolicy", "Never")
	if j.ServiceAccount != "" {
		add(pod, "serviceAccountName", j.ServiceAccount)
	}
	add(pod,
		"automountServiceAccountToken", false, "enableServiceLinks", false,
		"securityContext", mapping("runAsNonRoot", true, "runAsUser", 65532, "runAsGroup", 65532, "seccompProfile", mapping("type", "RuntimeDefault")),
		"containers", list(container),
		"volumes", volumes,
	)
	return pod
}

func (j *Job) args() *yaml.Node {
	args := list()
	for _, arg := range j.Args {
		args.Content = append(args.Content, text(strings.ReplaceAll(arg, "$(", "$$("))) // so that no kubelet expands it
	}
	for _, arg := range []string{"--shard", "$(JOB_COMPLETION_INDEX)/" + strconv.Itoa(j.Shards), "--output", "json"} {
		args.Content = append(args.Content, text(arg))
	}
	return args
}
