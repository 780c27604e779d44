package protolog

import (
	"bytes"
	"regexp"
)

// redacted stands where a credential was.
const redacted = "‹hidden›"

// A hider takes credentials out of what is shown: secrets it was told of, and what
// looks like one, by its name or by its form. It takes rather too much than too little.
type redactor struct{ secrets [][]byte }

func newRedactor(secrets []string) *redactor {
	h := &redactor{}
	for _, s := range secrets {
		if s != "" {
			h.secrets = append(h.secrets, []byte(s))
		}
	}
	return h
}

const secretName = `(?:[a-z0-9]+[_-])*(?:access|refresh|auth|session|api|client)?` +
	`(?:token|jwt|authorization|password|passwd|secret|credentials?|api[_-]?key|cookie)`

// credentialPatterns are credentials by their name, in JSON and in JSON within a string, as a
// parameter of a URL or in a header, and signed tokens by their form.
var credentialPatterns = []struct {
	like *regexp.Regexp
	as   []byte
}{
	{regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*")(?:[^"\\]|\\.)+`), []byte("${1}" + redacted)},
	{regexp.MustCompile(`(?i)(\\+"` + secretName + `\\+"\s*:\s*\\+")(?:[^"\\]|\\+[^"\\])+`), []byte("${1}" + redacted)},
	{regexp.MustCompile(`(?i)([?&](?:[a-z]+_)?(?:token|key|password|secret)=)[^&\s"'\\]+`), []byte("${1}" + redacted)},
	{regexp.MustCompile(`(?i)\b(bearer|basic)(?:\s+|%20)[a-z0-9._~+/=-]{8,}`), []byte("${1} " + redacted)},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{3,}\.[A-Za-z0-9_-]*`), []byte(redacted)},
}

// credentialHints are what a text holds, in lower case, when one of the masks can be in it.
var credentialHints = [][]byte{
	[]byte("token"), []byte("jwt"), []byte("authorization"), []byte("passw"), []byte("secret"), []byte("credential"), []byte("api"),
	[]byte("cookie"), []byte("key="), []byte("bearer"), []byte("basic"), []byte("eyj"),
}

// redact is a text without credentials; the same one where there are none.
func (h *redactor) redact(b []byte) []byte {
	for _, s := range h.secrets {
		if bytes.Contains(b, s) {
			b = bytes.ReplaceAll(b, s, []byte(redacted))
		}
	}
	if !mayContainCredential(b) {
		return b
	}
	for _, m := range credentialPatterns {
		if m.like.Match(b) {
			b = m.like.ReplaceAll(b, m.as)
		}
	}
	return b
}

func mayContainCredential(b []byte) bool {
	lower := bytes.ToLower(b)
	for _, h := range credentialHints {
		if bytes.Contains(lower, h) {
			return true
		}
	}
	return false
}
