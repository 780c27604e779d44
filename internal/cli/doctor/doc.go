// Package doctor has the verb doctor: it checks configuration, data directory, limits of this
// machine, stored sessions, server and agents, and writes reports of bugs. It starts no server.
//
// It uses nothing of the packages of other verbs.
package doctor
