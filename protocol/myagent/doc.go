// Package myagent is the dialect of MyAgent's WebSocket event protocol, both ends: Server speaks it to MyAgent's clients, Client
// speaks it to MyAgent's servers. It owns what its frames mean and what is lost on the way (docs/dialects/myagent.md).
//
// It is pure, as all codecs are: no goroutine, no clock, no I/O. What MyAgent has no word for goes as a system.notice whose
// metadata names the native type in "action" and holds its data in "data"; a server that does so says it by the capability
// "turns", and a client that sees it builds on it.
package myagent
