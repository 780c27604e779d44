package protolog

import (
	"bytes"
	"regexp"
)

// hidden stands where a credential was.
const hidden = "‹hidden›"

// A hider takes credentials out of what is shown: secrets it was told of, and what
// looks like one, by its name or by its form. It takes rather too much than too little.
type hider struct{ secrets [][]byte }

func newHider(secrets []string) *hider {
	h := &hider{}
	for _, s := range secrets {
		if s != "" {
			h.secrets = append(h.secrets, []byte(s))
		}
	}
	return h
}

const secretName = `(?:[a-z0-9]+[_-])*(?:access|refresh|auth|session|api|client)?` +
	`(?:token|jwt|authorization|password|passwd|secret|credentials?|api[_-]?key|cookie)`

// masks are credentials by their name, in JSON and in JSON within a string, as a
// parameter of a URL or in a header, and signed tokens by their form.
var masks = []struct {
	like *regexp.Regexp
	as   []byte
}{
	{regexp.MustCompile(`(?i)("` + secretName + `"\s*:\s*")(?:[^"\\]|\\.)+`), []byte("${1}" + hidden)},
	{regexp.MustCompile(`(?i)(\\+"` + secretName + `\\+"\s*:\s*\\+")(?:[^"\\]|\\+[^"\\])+`), []byte("${1}" + hidden)},
	{regexp.MustCompile(`(?i)([?&](?:[a-z]+_)?(?:token|key|password|secret)=)[^&\s"'\\]+`), []byte("${1}" + hidden)},
	{regexp.MustCompile(`(?i)\b(bearer|basic)(?:\s+|%20)[a-z0-9._~+/=-]{8,}`), []byte("${1} " + hidden)},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{3,}\.[A-Za-z0-9_-]*`), []byte(hidden)},
}

// hints are what a text holds, in lower case, when one of the masks can be in it.
var hints = [][]byte{
	[]byte("token"), []byte("jwt"), []byte("authorization"), []byte("passw"), []byte("secret"), []byte("credential"), []byte("api"),
	[]byte("cookie"), []byte("key="), []byte("bearer"), []byte("basic"), []byte("eyj"),
}

// data is a text without credentials; the same one where there are none.
func (h *hider) data(b []byte) []byte {
	for _, s := range h.secrets {
		if bytes.Contains(b, s) {
			b = bytes.ReplaceAll(b, s, []byte(hidden))
		}
	}
	if !suspect(b) {
		return b
	}
	for _, m := range masks {
		if m.like.Match(b) {
			b = m.like.ReplaceAll(b, m.as)
		}
	}
	return b
}

func suspect(b []byte) bool {
	lower := bytes.ToLower(b)
	for _, h := range hints {
		if bytes.Contains(lower, h) {
			return true
		}
	}
	return false
}
