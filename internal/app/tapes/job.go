package tapes

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/shards"
)

// scratchPath is where the Job's pods keep the tape that they read.
const scratchPath = "/scratch"

// Job describes the Kubernetes Job that does a work through the tapes of a store in shards.
type Job struct {
	Name, Image string
	Shards      int
	// Store is the URL of the store, as the pods open it.
	Store string
	// Claim is the PersistentVolumeClaim with the tapes of a store in a folder; other stores have none.
	Claim string
	// Secret has the credentials of a bucket as variables of the environment; ServiceAccount is what the pods run as.
	Secret, ServiceAccount string
	// Asked are the flags that choose tapes, Policies the names or files of policies.
	Asked, Policies []string
}

// Indexed is the Job whose pods run a verb of nodesim with these arguments besides. They find files in the folder filesAt.
func (j *Job) Indexed(verb, filesAt string, args ...string) (*shards.Job, error) {
	folder, err := j.folder(filesAt)
	if err != nil {
		return nil, err
	}
	job := &shards.Job{
		Name: j.Name, Container: verb, Image: j.Image, Shards: j.Shards, FilesAt: filesAt, Files: map[string]string{}, Scratch: scratchPath,
		Claim: j.Claim, ClaimAt: folder, Secret: j.Secret, ServiceAccount: j.ServiceAccount,
		Args: slices.Concat([]string{verb, "--store", j.Store}, j.Asked, args),
	}
	for i, name := range j.Policies {
		text, err := analyse.PolicyText(name)
		if err != nil {
			return nil, err
		}
		job.File("--policy", fmt.Sprintf("policy-%d.yaml", i), text)
	}
	return job, nil
}

// folder is where the pods find a store in a folder; "" for one in a bucket.
func (j *Job) folder(filesAt string) (string, error) {
	u, err := url.Parse(j.Store)
	switch {
	case err != nil || u.Scheme == "":
		return "", fmt.Errorf("store %.200q: want a URL, such as file:///srv/tapes or s3://bucket", j.Store)
	case u.User != nil:
		return "", fmt.Errorf("store %s: found credentials, which anybody could read in the Job: want them in a Secret, with --secret", u.Redacted())
	case u.Scheme != "file" && j.Claim != "":
		return "", fmt.Errorf("store %.200s, claim %.80q: want a claim for a store in a folder alone", j.Store, j.Claim)
	case u.Scheme != "file":
		return "", nil
	case j.Claim == "":
		return "", fmt.Errorf("store %.200s: found no --claim: want the PersistentVolumeClaim with the tapes, which the pods have as this folder", j.Store)
	}
	folder := path.Clean(u.Path)
	if u.Host != "" || !path.IsAbs(u.Path) || folder == "/" || strings.Contains(folder, ":") || within(folder, filesAt) || within(folder, scratchPath) {
		return "", fmt.Errorf("store %.200s: want the path of a folder, such as file:///srv/tapes, where the pods have nothing else", j.Store)
	}
	return folder, nil
}

// within reports whether a folder is another one, or below it.
func within(folder, other string) bool { return strings.HasPrefix(folder+"/", other+"/") }
