package storetest

import "github.com/nodesim/nodesim/internal/app/tapes"

// MountPath is where the Job's pods find policies.
const MountPath = "/test"

// Manifest is the Kubernetes Job that tests the tapes of a store in shards, as YAML.
func Manifest(j *tapes.Job) ([]byte, error) {
	job, err := j.Indexed("test", MountPath)
	if err != nil {
		return nil, err
	}
	return job.YAML()
}
