// Package dirlock locks a data directory while a store is open in it, and finds the process that
// holds it. It knows no database, so that programs that only ask for the server do not link one.
package dirlock
