// Package web serves sessions over HTTP: the session list, messages of finished turns, blobs, and
// the events of a session as server-sent events.
//
// It owns neither sessions nor sockets, and must not check credentials: package server has checked
// them.
package web
