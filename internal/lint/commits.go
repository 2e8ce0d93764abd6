package lint

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// firstChecked is the last commit before subjects and bodies were checked.
const firstChecked = "6345dbc1af64"

// longestSubject is the number of characters a commit's subject may have.
const longestSubject = 72

// notImperative finds subjects that tell what was done or is so, where they should say what the commit does to the code.
var notImperative = regexp.MustCompile(`^(\S+: )?([A-Z]?[a-z]+(ed|ing)|It|The|A|An|This|There|No|One|What|Now)\s`)

// imperative finds verbs that only look like another form.
var imperative = regexp.MustCompile(`^(\S+: )?(?i:feed|need|embed|shed|seed|speed|proceed|exceed|bring|ping|string|swing)\s`)

// Commits checks the messages of all commits after the rule came. A shallow clone has fewer, and those are checked.
func Commits(ctx context.Context, root string) ([]Finding, error) {
	revisions := firstChecked + "..HEAD"
	if err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "--verify", "--quiet", firstChecked).Run(); err != nil {
		revisions = "HEAD"
	}
	log, err := exec.CommandContext(ctx, "git", "-C", root, "log", "--no-merges", "--format=%h%x00%B%x01", revisions).Output()
	if err != nil {
		return nil, fmt.Errorf("read the commits of %s: %w", root, err)
	}
	var found []Finding
	for entry := range strings.SplitSeq(strings.TrimSpace(string(log)), "\x01") {
		if hash, message, ok := strings.Cut(strings.TrimSpace(entry), "\x00"); ok {
			for _, wrong := range Message(message) {
				found = append(found, Finding{"commit " + hash, 1, wrong})
			}
		}
	}
	return found, nil
}

// Message says what is wrong with a commit's message: nothing, or what was found and what is wanted.
func Message(message string) []string {
	subject, body, _ := strings.Cut(strings.TrimSpace(message), "\n")
	var wrong []string
	if length := len([]rune(subject)); length > longestSubject {
		wrong = append(wrong, fmt.Sprintf("found a subject of %d characters, want at most %d: %s", length, longestSubject, subject))
	}
	if notImperative.MatchString(subject) && !imperative.MatchString(subject) || strings.HasSuffix(subject, ".") {
		wrong = append(wrong, "want a subject in the imperative, without a full stop, found: "+subject)
	}
	if strings.TrimSpace(body) == "" {
		wrong = append(wrong, "found no body, want one that says why: "+subject)
	}
	return wrong
}
