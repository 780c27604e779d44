package redact

import (
	"regexp"
	"sync"
)

// A credential is a usual form of a key or token whose value is not known.
type credential struct {
	pattern *regexp.Regexp
	replace string
}

// credentials are the forms in texts. They are compiled when they are first needed.
var credentials = sync.OnceValue(func() []credential {
	return []credential{
		{regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[^\s"',;]+`), "$1$2" + Mark},
		{regexp.MustCompile(`(?i)\b([a-z_-]*(?:token|key|secret|password))(=|":\s?"|: )[^\s"'&,;]+`), "$1$2" + Mark},
		{regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`), Mark},
		{regexp.MustCompile(`\b(?:sk|xai|gsk|ghp|gho|glpat)[-_][\w-]{12,}`), Mark},
	}
})

// hideCredentials returns a text without what looks like a credential.
func hideCredentials(text string) string {
	for _, c := range credentials() {
		text = c.pattern.ReplaceAllString(text, c.replace)
	}
	return text
}
