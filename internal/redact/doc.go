// Package redact hides secrets in texts that leave their place: logs, errors and recorded messages.
// It owns which values count as secrets, in which order they are replaced, and the forms of
// credentials whose values are not known. It must not know where a text comes from or goes to.
package redact
