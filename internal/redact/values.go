package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark replaces a secret of a log.
const Mark = "[hidden]"

// MinValue is the length, in bytes, from which a value of an environment or a configuration is taken
// for a secret. Shorter ones are common words.
const MinValue = 8

// MinPart is the length, in bytes, from which the beginning of a secret at a cut is hidden.
const MinPart = 6

// Values hides known secrets. The zero Values hides none. It is immutable.
type Values struct {
	mark    string
	secrets []string // the longest first: one may be part of another
	replace *strings.Replacer
}

// NewValues returns Values that replace secrets of at least least bytes with mark.
func NewValues(mark string, least int, secrets []string) *Values {
	known := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < max(least, 1) })
	slices.SortFunc(known, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, s := range known {
		pairs = append(pairs, s, mark)
	}
	return &Values{mark: mark, secrets: known, replace: strings.NewReplacer(pairs...)}
}

// Hide returns text without the secrets. Where several match, the longest is replaced.
func (v *Values) Hide(text string) string {
	if len(v.secrets) == 0 {
		return text
	}
	return v.replace.Replace(text)
}

// HideCut is Hide for a text that may be cut: it also hides the beginning of a secret at the end.
func (v *Values) HideCut(text string) string {
	text = v.Hide(text)
	longest := 0
	for _, s := range v.secrets {
		for n := min(len(s), len(text)); n >= MinPart && n > longest; n-- {
			if strings.HasSuffix(text, s[:n]) {
				longest = n
			}
		}
	}
	if longest == 0 {
		return text
	}
	return text[:len(text)-longest] + v.mark
}

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

// hideCredentials returns a text without strings that look like credentials.
func hideCredentials(text string) string {
	for _, c := range credentials() {
		text = c.pattern.ReplaceAllString(text, c.replace)
	}
	return text
}

// A Log hides secrets in the texts of a log. The zero Log hides text that looks like a credential;
// Set adds known values. Its methods may be called from any goroutine.
type Log struct{ known atomic.Pointer[Values] }

// Set replaces the known secrets.
func (l *Log) Set(secrets []string) { l.known.Store(NewValues(Mark, MinValue, secrets)) }

// Redact returns text without secrets.
func (l *Log) Redact(text string) string {
	if known := l.known.Load(); known != nil {
		text = known.Hide(text)
	}
	return hideCredentials(text)
}
