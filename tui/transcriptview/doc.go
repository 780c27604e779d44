// Package transcriptview owns a session's transcript as a list of items: it folds the events of the
// session into messages, thoughts, tool calls, plans, approvals and notes, and takes in pages of
// history. It must not handle keys or ask the server: it returns the page that it wants next.
package transcriptview
