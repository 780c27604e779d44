package redact

import "sync/atomic"

// A Log hides secrets in the texts of a log. The zero Log hides what looks like a credential; Set
// adds known values. Its methods may be called from any goroutine.
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
