package mask_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/mask"
)

const (
	pem    = "-----BEGIN RSA PRIVATE KEY-----\nMIIcanary\ncanary==\n-----END RSA PRIVATE KEY-----"
	random = "AbcD0123efGH4567ijKL8901mnOP2345qrST6789"
)

// Credentials of every shape that the package knows, with what is left.
var credentials = map[string]string{
	"https://user:canary@registry.example/v2/":                     "https://redacted@registry.example/v2/",
	"https://canary@github.com/org/repo.git":                       "https://redacted@github.com/org/repo.git",
	"redis://:canary@cache:6379":                                   "redis://redacted@cache:6379",
	"postgres://u:ca/nary#1@db:5432/x failed":                      "postgres://redacted@db:5432/x failed",
	"https://u:p@canary@host/ and https://v:canary@host":           "https://redacted@host/ and https://redacted@host",
	"user:canary@registry.example/team/app:1.2":                    "redacted@registry.example/team/app:1.2",
	"u:canary@reg:5000/app:1@sha256:" + strings.Repeat("0a", 32):   "redacted@reg:5000/app:1@sha256:" + strings.Repeat("0a", 32),
	`Failed to pull image "user:canary@reg/app": rpc error`:        `Failed to pull image "redacted@reg/app": rpc error`,
	"dial root:canary@tcp(db:3306)/shop":                           "dial redacted@tcp(db:3306)/shop",
	"u:ca@!nary@host":                                              "redacted@host",
	"key " + pem + " and more":                                     "key redacted and more",
	"-----BEGIN CERTIFICATE-----\ncanary":                          "redacted",
	base64.StdEncoding.EncodeToString([]byte(pem)):                 "redacted",
	base64.StdEncoding.EncodeToString([]byte("a" + pem)):           "redacted",
	base64.StdEncoding.EncodeToString([]byte("ab" + pem)):          "redacted",
	"ca: " + base64.StdEncoding.EncodeToString([]byte(pem)):        "ca: redacted",
	"token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dQ": "token redacted",
	"key AKIA" + random0[:16] + ".":                                "key redacted.",
	"\nASIA" + random0[:16]:                                        "\nredacted",
	"ghp_" + random[:36]:                                           "redacted",
	"github_pat_" + random[:22] + "_" + random[:20]:                "redacted",
	"(glpat-" + random[:20] + ")":                                  "(redacted)",
	"xoxb-1234567890-" + random[:24]:                               "redacted",
	"https://hooks.slack.com/services/T00000000/B00000000/canary":  "https://hooks.redacted",
	"AIza" + random[:35]:                                           "redacted",
	"ya29." + random:                                               "redacted",
	"sha256~" + random[:40] + "abc":                                "redacted",
	"hvs." + random:                                                "redacted",
	"npm_" + random[:36]:                                           "redacted",
	"dckr_pat_" + random[:27]:                                      "redacted",
	"sk-ant-api03-" + random:                                       "redacted",
	"SG." + random[:22] + "." + random:                             "redacted",
	"kubeadm join 10.0.0.1:6443 --token abcdef.0123456789abcdef":   "kubeadm join 10.0.0.1:6443 --token redacted",
	"use abcdef.0123456789abcdef.":                                 "use redacted.",
	"abcdef.0123456789abcdef":                                      "redacted",
	"Authorization: Bearer canary-0123":                            "Authorization: Bearer redacted",
	"Authorization: Basic dXNlcjpjYW5hcnk=":                        "Authorization: Basic redacted",
	"Authorization: Basic dXNlcjpwYXNz":                            "Authorization: Basic redacted",
	`"authorization": "Bearer canarycanary"`:                       `"authorization": "Bearer redacted"`,
	"postgres://app:p@can/ary@db:5432/shop":                        "postgres://redacted@db:5432/shop",
	"{'password': 'canary', 'user': 'ann'}":                        "{'password': 'redacted', 'user': 'ann'}",
	"DB_PASSWORD=canary rest":                                      "DB_PASSWORD=redacted rest",
	"aws_secret_access_key = x, AWS_SECRET_ACCESS_KEY=canary/+x":   "aws_secret_access_key = redacted, AWS_SECRET_ACCESS_KEY=redacted",
	"https://s3/x?X-Amz-Signature=canary&X-Amz-Date=1":             "https://s3/x?X-Amz-Signature=redacted&X-Amz-Date=1",
	`--docker-password="can ary" --docker-username=u`:              `--docker-password="redacted" --docker-username=u`,
	"run --token canary --node a":                                  "run --token redacted --node a",
	`{"auths":{"reg.example":{"auth":"dXNlcjpjYW5hcnk="}}}`:        `{"auths":{"reg.example":{"auth":"redacted"}}}`,
	`"{\"clientSecret\": \"canary\"}"`:                             `"{\"clientSecret\": \"redacted\"}"`,
	`{"password":"can\"ary"}`:                                      `{"password":"redacted"}`,
	"eyJhdXRocyI6eyJyZWciOnsiYXV0aCI6ImNhbmFyeSJ9fX0=":             "redacted",
	`{"password" : "canary", "user" : "ann"}`:                      `{"password" : "redacted", "user" : "ann"}`,
	"{'token' : 'canary'}":                                         "{'token' : 'redacted'}",
	"https://x.blob.core.windows.net/a?sv=2024&sig=canary%3D&se=1": "https://x.blob.core.windows.net/a?sv=2024&sig=redacted&se=1",
	"login failed, password: canary":                               "login failed, password: redacted",
	"a:AKIA" + random0[:16] + "@host":                              "redacted@host",
}

const random0 = "ABCD0123EFGH4567"

func TestCredentialsAreMasked(t *testing.T) {
	for in, want := range credentials {
		if got := mask.String(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

// What a roll is told by, and looks like a credential to a hasty reader.
func TestWhatIsNoCredentialStays(t *testing.T) {
	for _, s := range []string{
		"", "redacted", "nginx:1.29", "registry.example:5000/team/app:1.2", "docker.io/library/nginx@sha256:" + strings.Repeat("0a", 32),
		"nginx:1.29@sha256:" + strings.Repeat("0a", 32), "app:1@sha512:" + strings.Repeat("0a", 64),
		"9b6167d2-b3a8-4131-a5af-f4986ae0cab5", "aws:///us-east-1a/i-0123456789abcdef0", "gce://proj/zone/gke-a-b-1234", "123456789",
		"azure:///subscriptions/9b6167d2/resourceGroups/mc_rg/providers/Microsoft.Compute/virtualMachineScaleSets/aks-np/virtualMachines/0",
		"containerd://" + strings.Repeat("0a", 32), "6.1.158-180.294.amzn2023.x86_64", "v1.33.4-eks-1", "ip-10-0-1-10.ec2.internal",
		"worker.mycompanyinternal", "web-abcdef.18a1b2c3d4e5f601", "ami-0a1b2c3d4e5f60718", "2026-11-21T00:03:36Z",
		"https://kubernetes.io/docs", "https://10.0.0.1:6443/api?timeout=10s", "mailto:ops@example.com", "ops@example.com",
		"Bearer token expired", "Basic authentication", "secret \"web\" not found", "token: connection refused", "sk-web-0",
		"Readiness probe failed: HTTP probe failed with statuscode: 503", "kubernetes.io/csi/ebs.csi.aws.com^vol-0123456789abcdef0",
		`{"ebs.csi.aws.com":"i-0123456789abcdef0"}`, "a -- b", "cpu=100m", "glpat-", "ASIA", "eyJ", "-----", "@", ":@", "://", "=",
	} {
		if got := mask.String(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// Scan tells a string that holds a credential, wherever it is in a document.
func TestScanSuspectsCredentials(t *testing.T) {
	for in := range credentials {
		body := strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`).Replace(in)
		doc := `{"a":"` + body + `","b":1}`
		if end, suspect := mask.Scan([]byte(doc), 6); end != 6+len(body) || !suspect {
			t.Errorf("%s: ends at %d, want %d, suspect %v", doc, end, 6+len(body), suspect)
		}
	}
	if end, suspect := mask.Scan([]byte(`"ip-10-0-1-10","x86_64"`), 1); end != 13 || suspect {
		t.Errorf("a node's name ends at %d, suspect %v", end, suspect)
	}
}
