// Package instance runs a server on a data directory of package localserver: the store, the server,
// its listeners and its end. It must not know any verb, flag or configuration file.
//
// It is separate from localserver because it links the server and the database, which the programs
// that only connect do not need.
package instance
