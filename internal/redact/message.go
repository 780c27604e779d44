package redact

import (
	"bytes"
	"regexp"
	"sync"
)

// MessageMark replaces a secret of a message. Mark would look like a list of JSON.
const MessageMark = "‹hidden›"

// Messages hides secrets in messages of a protocol: known ones, and text that looks like a credential,
// by name or form. It prefers false positives. A message that is JSON stays JSON, unless a known
// secret is part of its syntax. It is immutable.
type Messages struct{ known *Values }

// NewMessages returns the Messages for known secrets of any length.
func NewMessages(secrets []string) *Messages { return &Messages{NewValues(MessageMark, 1, secrets)} }

// secretName matches the names of credentials.
const secretName = `(?:[a-z0-9]+[_-])*(?:access|refresh|auth|session|api|client)?` +
	`(?:token|jwt|authorization|password|passwd|secret|credentials?|api[_-]?key|cookie)`

// messageCredentials are the forms in messages: credentials by name, answers to secret questions, and
// queries of pages that agents ask to open, in JSON and in JSON within a string; credentials in URL
// parameters and headers, and signed tokens by form. They are compiled when they are first needed.
var messageCredentials = sync.OnceValue(func() []credential {
	named := "${1}" + MessageMark
	return []credential{
		{regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*")(?:[^"\\]|\\.)+`), named},
		{regexp.MustCompile(`(?i)(\\+"` + secretName + `\\+"\s*:\s*\\+")(?:[^"\\]|\\+[^"\\])+`), named},
		{regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*\[\s*")(?:[^"\\]|\\.)+`), named},
		{regexp.MustCompile(`("secrets"\s*:\s*)\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}`), `${1}"` + MessageMark + `"`},
		{regexp.MustCompile(`(\\+"secrets\\+"\s*:\s*)\{(?:[^{}"\\]|\\+"(?:[^"\\]|\\+[^"\\])*\\+")*\}`), "${1}{}"},
		{regexp.MustCompile(`("page_url"\s*:\s*"[^"?#\\]*)[?#](?:[^"\\]|\\.)*`), "${1}?" + MessageMark},
		{regexp.MustCompile(`(\\+"page_url\\+"\s*:\s*\\+"[^"?#\\]*)[?#](?:[^"\\]|\\+[^"\\])*`), "${1}?" + MessageMark},
		{regexp.MustCompile(`(?i)([?&](?:[a-z]+_)?(?:token|key|password|secret)=)[^&\s"'\\]+`), named},
		{regexp.MustCompile(`(?i)\b(bearer|basic)(?:\s+|%20)[a-z0-9._~+/=-]{8,}`), "${1} " + MessageMark},
		{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{3,}\.[A-Za-z0-9_-]*`), MessageMark},
	}
})

// credentialHints are lower-case substrings. A text without any of them matches no pattern.
var credentialHints = [][]byte{
	[]byte("token"), []byte("jwt"), []byte("authorization"), []byte("passw"), []byte("secret"),
	[]byte("credential"), []byte("api"), []byte("cookie"), []byte("key="), []byte("bearer"), []byte("basic"),
	[]byte("eyj"), []byte("page_url"),
}

// Redact returns a message without secrets. It does not change b, and returns it if it has none.
func (m *Messages) Redact(b []byte) []byte {
	if text := m.known.Hide(string(b)); text != string(b) {
		b = []byte(text)
	}
	if !mayContainCredential(b) {
		return b
	}
	for _, c := range messageCredentials() {
		if c.pattern.Match(b) {
			b = c.pattern.ReplaceAll(b, []byte(c.replace))
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
