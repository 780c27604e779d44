// Package interoptest is the rig shared by the interop tests: it runs agentctl as a server, and follows
// sessions through package wsclient.
//
// Its code is behind the build tag interop. Only tests below internal/dev/interop may import it.
package interoptest
