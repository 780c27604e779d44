// Package serve has the verbs of the server process: serve, which opens its listeners and reloads
// its configuration, stop, logs, and connect, which joins stdin and stdout to its socket.
//
// It uses nothing of the packages of other verbs.
package serve
