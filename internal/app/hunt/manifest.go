package hunt

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/internal/app/analyse"
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
	if c.Timings != "" {
		text, err := os.ReadFile(c.Timings)
		if err != nil {
			return nil, fmt.Errorf("timings: %w", err)
		}
		j.File("--timings", "timings.yaml", text)
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
