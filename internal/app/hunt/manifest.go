package hunt

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios/hunt"
)

// Manifest is the Kubernetes Job that runs a search in shards. policies are the names that the policies of the Config were found by.
func Manifest(c Config, policies []string, image string, shards int) ([]byte, error) {
	if _, err := prepare(&c); err != nil { // what can't be searched is refused here, and not in a pod
		return nil, err
	}
	m := hunt.Manifest{
		Name: "hunt-" + c.Scenario.Name, Image: image, Shards: shards,
		Files: map[string]string{"scenario.yaml": c.Scenario.Document.Text()},
		Args:  []string{"hunt", hunt.MountPath + "/scenario.yaml", "--seed", strconv.FormatUint(c.Seed, 10)},
	}
	if c.Cases > 0 {
		m.Args = append(m.Args, "--cases", strconv.FormatUint(c.Cases, 10))
	}
	if c.Budget > 0 {
		m.Args = append(m.Args, "--budget", c.Budget.String())
	}
	for _, set := range c.Settings {
		m.Args = append(m.Args, "--set", set)
	}
	if c.Timings != "" {
		text, err := os.ReadFile(c.Timings)
		if err != nil {
			return nil, fmt.Errorf("timings: %w", err)
		}
		m.Files["timings.yaml"] = string(text)
		m.Args = append(m.Args, "--timings", hunt.MountPath+"/timings.yaml")
	}
	for i, name := range policies {
		text, err := policyText(name)
		if err != nil {
			return nil, err
		}
		file := fmt.Sprintf("policy-%d.yaml", i)
		m.Files[file] = string(text)
		m.Args = append(m.Args, "--policy", hunt.MountPath+"/"+file)
	}
	return m.Job()
}

func policyText(name string) ([]byte, error) {
	if slices.Contains(policy.Shipped(), name) {
		return policy.Text(name)
	}
	return os.ReadFile(name)
}
