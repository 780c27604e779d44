// Package stored reads a session from the store, and encodes its spec for the store, with the
// variables of its environment encrypted.
//
// It must not know sessions in memory.
package stored
