// Package web serves sessions over HTTP: the commands of the protocol as requests, the session
// list, messages of finished turns, blobs, documents, and events as server-sent events. The table
// Routes lists every path; the handler, docs/access.md and docs/openapi.json follow from it.
//
// It owns neither sessions nor sockets, and must not check credentials: package server has checked
// them, and runs the commands.
package web
