package wirelog

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// redacted replaces a credential.
const redacted = "‹hidden›"

// redactor removes known secrets and text that looks like a credential, by name or form. It prefers
// false positives.
type redactor struct{ secrets [][]byte }

func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	for _, s := range secrets {
		if s != "" {
			r.secrets = append(r.secrets, []byte(s))
		}
	}
	// A secret that begins with another one is replaced as a whole.
	slices.SortFunc(r.secrets, func(a, b []byte) int { return len(b) - len(a) })
	return r
}

const secretName = `(?:[a-z0-9]+[_-])*(?:access|refresh|auth|session|api|client)?` +
	`(?:token|jwt|authorization|password|passwd|secret|credentials?|api[_-]?key|cookie)`

// A credentialPattern matches a credential and says what replaces it.
type credentialPattern struct {
	pattern     *regexp.Regexp
	replacement []byte
}

// credentialPatterns match credentials by name, in JSON, in JSON within a string, in URL parameters
// and headers, and signed tokens by form. Compiled on first use.
var credentialPatterns = sync.OnceValue(func() []credentialPattern {
	named := []byte("${1}" + redacted)
	return []credentialPattern{
		{regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*")(?:[^"\\]|\\.)+`), named},
		{regexp.MustCompile(`(?i)(\\+"` + secretName + `\\+"\s*:\s*\\+")(?:[^"\\]|\\+[^"\\])+`), named},
		{regexp.MustCompile(`(?i)([?&](?:[a-z]+_)?(?:token|key|password|secret)=)[^&\s"'\\]+`), named},
		{regexp.MustCompile(`(?i)\b(bearer|basic)(?:\s+|%20)[a-z0-9._~+/=-]{8,}`), []byte("${1} " + redacted)},
		{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{3,}\.[A-Za-z0-9_-]*`), []byte(redacted)},
	}
})

// credentialHints are lower-case substrings. A text without any of them matches no pattern.
var credentialHints = [][]byte{
	[]byte("token"), []byte("jwt"), []byte("authorization"), []byte("passw"), []byte("secret"),
	[]byte("credential"), []byte("api"), []byte("cookie"), []byte("key="), []byte("bearer"), []byte("basic"),
	[]byte("eyj"),
}

// redact returns text without credentials. If there are none, it returns b itself.
func (r *redactor) redact(b []byte) []byte {
	for _, s := range r.secrets {
		if bytes.Contains(b, s) {
			b = bytes.ReplaceAll(b, s, []byte(redacted))
		}
	}
	if !mayContainCredential(b) {
		return b
	}
	for _, c := range credentialPatterns() {
		if c.pattern.Match(b) {
			b = c.pattern.ReplaceAll(b, c.replacement)
		}
	}
	return b
}

// mayContainCredential reports whether b contains one of credentialHints, in any case.
func mayContainCredential(b []byte) bool {
	lower := bytes.ToLower(b)
	for _, hint := range credentialHints {
		if bytes.Contains(lower, hint) {
			return true
		}
	}
	return false
}
