// Package transcriptview owns the transcript of a session as a list of items. It reduces the events
// of the session to messages, reasoning, tool calls, plans, approvals and notes, and prepends pages
// of history. It must not handle keys or send requests: it returns the page to request.
package transcriptview
