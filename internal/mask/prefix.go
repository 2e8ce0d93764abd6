package mask

import "strings"

// prefixed is a kind of token that says by its beginning what it is.
type prefixed struct {
	prefix string
	least  int               // bytes after the prefix, no fewer
	exact  bool              // and no more
	of     func(c byte) bool // what they are
}

// prefixes by their first byte. Sources: the vendors' documentation, and the
// rules of gitleaks (config/gitleaks.toml), which collects them.
var prefixes = func() (t [128][]prefixed) {
	for _, p := range []prefixed{
		{"AKIA", 16, true, upperAlnum}, {"ASIA", 16, true, upperAlnum}, // AWS
		{"ABIA", 16, true, upperAlnum}, {"ACCA", 16, true, upperAlnum},
		{"AIza", 35, false, wordByte}, {"ya29.", 20, false, wordByte}, {"GOCSPX-", 20, false, wordByte}, // Google
		{"ghp_", 30, false, alnum}, {"gho_", 30, false, alnum}, {"ghu_", 30, false, alnum}, // GitHub
		{"ghs_", 30, false, alnum}, {"ghr_", 30, false, alnum}, {"github_pat_", 22, false, wordByte},
		{"glpat-", 20, false, wordByte}, {"gldt-", 20, false, wordByte}, {"glrt-", 20, false, wordByte}, // GitLab
		{"glcbt-", 20, false, wordByte}, {"glptt-", 20, false, wordByte}, {"glft-", 20, false, wordByte},
		{"glagent-", 20, false, wordByte}, {"gloas-", 20, false, wordByte}, {"glsoat-", 20, false, wordByte},
		{"xoxa-", 10, false, wordByte}, {"xoxb-", 10, false, wordByte}, {"xoxe-", 10, false, wordByte}, // Slack
		{"xoxe.", 10, false, tokenByte}, {"xoxo-", 10, false, wordByte}, {"xoxp-", 10, false, wordByte},
		{"xoxr-", 10, false, wordByte}, {"xoxs-", 10, false, wordByte}, {"xapp-", 20, false, wordByte},
		{"slack.com/services/", 10, false, pathByte},
		{"sha256~", 40, false, wordByte},                             // OpenShift
		{"hvs.", 20, false, wordByte}, {"hvb.", 20, false, wordByte}, // Vault
		{"dckr_pat_", 20, false, wordByte}, {"dckr_oat_", 20, false, wordByte}, // Docker Hub
		{"npm_", 30, false, alnum}, {"pypi-", 50, false, wordByte},
		{"sk_live_", 10, false, wordByte}, {"rk_live_", 10, false, wordByte}, {"whsec_", 20, false, wordByte}, // Stripe
		{"glsa_", 30, false, wordByte}, {"glc_", 30, false, base64Byte}, // Grafana
		{"dop_v1_", 60, false, alnum}, {"doo_v1_", 60, false, alnum}, {"dor_v1_", 60, false, alnum}, // DigitalOcean
		{"hf_", 30, false, alnum}, {"SG.", 40, false, tokenByte}, {"tskey-", 20, false, wordByte},
		{"sk-ant-", 20, false, wordByte}, {"sk-proj-", 20, false, wordByte}, {"sk-", 32, false, alnum},
		{"AGE-SECRET-KEY-", 20, false, wordByte},
		{"eyJhdXRo", 4, false, base64Byte}, // {"auth in base64: a Docker configuration
	} {
		t[p.prefix[0]] = append(t[p.prefix[0]], p)
	}
	return t
}()

// token returns the end of the token of a known prefix that begins at s[i], or i.
func token(s string, i int) int {
	c := s[i]
	if c >= 128 || prefixes[c] == nil || alnum(at(s, i-1)) {
		return i
	}
	for _, p := range prefixes[c] {
		if !strings.HasPrefix(s[i:], p.prefix) {
			continue
		}
		from := i + len(p.prefix)
		to := from
		for to < len(s) && p.of(s[to]) {
			to++
		}
		if n := to - from; n < p.least || p.exact && (n > p.least || alnum(at(s, to))) {
			continue
		}
		return to
	}
	return i
}

// webToken returns the end of the JWT that begins at s[i] (RFC 7519: two or
// three parts in base64url, of which the first begins with {"), or i.
func webToken(s string, i int) int {
	if !strings.HasPrefix(s[i:], "eyJ") || wordByte(at(s, i-1)) {
		return i
	}
	to, parts := i, 0
	for {
		from := to
		for to < len(s) && wordByte(s[to]) {
			to++
		}
		if to-from < 4 && parts < 2 {
			break
		}
		if parts++; parts == 5 || at(s, to) != '.' { // an encrypted one has five
			break
		}
		to++
	}
	if parts < 2 {
		return i
	}
	return to
}

func upperAlnum(c byte) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' }
func wordByte(c byte) bool   { return alnum(c) || c == '_' || c == '-' }
func pathByte(c byte) bool   { return wordByte(c) || c == '/' }
func tokenByte(c byte) bool  { return wordByte(c) || c == '.' }
func base64Byte(c byte) bool { return wordByte(c) || c == '+' || c == '/' || c == '=' }
