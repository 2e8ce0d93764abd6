package hunt

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/shards"
)

// MountPath is where the Job's pods find the scenario and its files.
const MountPath = "/hunt"

// jobName has room for the index, which the name of a pod ends with: a label of at most 63 characters.
func jobName(scenario string) string {
	const most = validation.DNS1123LabelMaxLength - len("hunt-") - len("-99999")
	return "hunt-" + strings.TrimRight(scenario[:min(len(scenario), most)], "-")
}

// Manifest is the Kubernetes Job that runs a search in shards. policies are the names that the policies of the Config were found by.
func Manifest(c Config, policies []string, image string, of int) ([]byte, error) {
	if _, err := prepare(&c); err != nil { // what can't be searched is refused here, and not in a pod
		return nil, err
	}
	j := shards.Job{
		Name: jobName(c.Scenario.Name), Container: "hunt", Image: image, Shards: of, FilesAt: MountPath,
		Files: map[string]string{"scenario.yaml": c.Scenario.Document.Text()},
		Args:  []string{"hunt", MountPath + "/scenario.yaml", "--seed", strconv.FormatUint(c.Seed, 10)},
	}
	if c.Cases > 0 {
		j.Args = append(j.Args, "--cases", strconv.FormatUint(c.Cases, 10))
	}
	if c.Budget > 0 {
		j.Args = append(j.Args, "--budget", c.Budget.String())
	}
	for _, set := range c.Settings {
		j.Args = append(j.Args, "--set", set)
	}
	j.Args = append(j.Args, c.Roll.args()...)
	if err := addTimings(&j, c.Timings); err != nil {
		return nil, err
	}
	for i, name := range policies {
		text, err := analyse.PolicyText(name)
		if err != nil {
			return nil, err
		}
		j.File("--policy", fmt.Sprintf("policy-%d.yaml", i), text)
	}
	return j.YAML()
}

// addTimings adds a file of timings, if there is one.
func addTimings(j *shards.Job, file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("timings: %w", err)
	}
	j.File("--timings", "timings.yaml", text)
	return nil
}

// StoreManifest is the Kubernetes Job that runs searches through the tapes of a store in shards. The Job that goes in says which tapes and
// policies.
func StoreManifest(c StoreConfig, j tapes.Job) ([]byte, error) {
	if err := c.Check(); err != nil { // what can't be searched is refused here, and not in a pod
		return nil, err
	}
	args := []string{"--seed", strconv.FormatUint(c.Search.Seed, 10), "--cases", strconv.FormatUint(c.Search.Cases, 10)}
	job, err := j.Indexed("hunt", MountPath, append(args, c.Search.Roll.args()...)...)
	if err != nil {
		return nil, err
	}
	if err := addTimings(job, c.Search.Timings); err != nil {
		return nil, err
	}
	return job.YAML()
}
