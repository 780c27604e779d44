// Package export owns the documents that a session is exported as: Markdown, HTML, JSON lines and
// asciicast. It writes what it is given and must not know how events are read or which verb asks.
package export
