// Package doctor has the verb doctor: it checks configuration, data directory, limits of this
// machine, stored sessions, server and agents. It changes nothing and starts no server.
//
// It uses nothing of the packages of other verbs.
package doctor
