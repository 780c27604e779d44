// Package access has the verbs of access: login to a server, and the credentials, users and keys of
// the local one.
//
// It uses nothing of the packages of other verbs.
package access
