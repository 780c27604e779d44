// Package web is what HTTP clients see of sessions: the list, the messages of finished turns, blobs, and a session's events as
// server-sent events. It owns no session and no socket; credentials have been checked before it is asked.
package web
