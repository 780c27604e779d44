package serverlog

import (
	"cmp"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// minSecret is the length from which a value is taken for a secret. Shorter ones are common words.
const minSecret = 8

// hidden replaces secrets.
const hidden = "[hidden]"

// credentials match the usual forms of keys and tokens, whose values are not known.
var credentials = sync.OnceValue(func() []credential {
	return []credential{
		{regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[^\s"',;]+`), "$1$2" + hidden},
		{regexp.MustCompile(`(?i)\b([a-z_-]*(?:token|key|secret|password))(=|":\s?"|: )[^\s"'&,;]+`), "$1$2" + hidden},
		{regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]+`), hidden},
		{regexp.MustCompile(`\b(?:sk|xai|gsk|ghp|gho|glpat)[-_][\w-]{12,}`), hidden},
	}
})

type credential struct {
	pattern *regexp.Regexp
	replace string
}

// A Redactor hides secrets in texts. The zero Redactor hides what looks like one; Set adds known
// values. Its methods may be called from any goroutine.
type Redactor struct {
	known atomic.Pointer[strings.Replacer]
}

// Set replaces the known secrets.
func (r *Redactor) Set(secrets []string) {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest match counts
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, hidden)
	}
	r.known.Store(strings.NewReplacer(pairs...))
}

// Redact returns text without secrets.
func (r *Redactor) Redact(text string) string {
	if known := r.known.Load(); known != nil {
		text = known.Replace(text)
	}
	for _, c := range credentials() {
		text = c.pattern.ReplaceAllString(text, c.replace)
	}
	return text
}

// replace is the ReplaceAttr of a handler.
func (r *Redactor) replace(groups []string, a slog.Attr) slog.Attr {
	switch {
	case len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey):
	case a.Value.Kind() == slog.KindString:
		a.Value = slog.StringValue(r.Redact(a.Value.String()))
	case a.Value.Kind() == slog.KindAny:
		a.Value = slog.StringValue(r.Redact(fmt.Sprint(a.Value.Any())))
	}
	return a
}
