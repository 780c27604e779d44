// Package export owns the formats that a session is exported in: Markdown, HTML, JSON lines and
// asciicast. It must not know how events are read or any verb.
package export
