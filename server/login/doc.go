// Package login authenticates users: it reads the users file with password hashes and roles, and
// issues and verifies signed tokens, for a password or made with the server's secret.
//
// It must not know sessions, connections or listeners. Package protocol defines the permissions of
// roles; package server decides where a token is required.
package login
