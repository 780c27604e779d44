// Package remote declares the client that the screens need: a Server with its sessions, a Session
// with its updates, and the state of the connection. It must not know sockets or how a connection
// is kept.
package remote
