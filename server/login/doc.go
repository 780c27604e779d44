// Package login knows who may come in: the users of a file, with their passwords' hashes and roles, and the signed tokens that they
// get for a password, and those that whoever has the server's secret makes.
//
// It must not know sessions, connections or listeners. What a role may do is protocol's business, where a token is asked for the
// server's.
package login
