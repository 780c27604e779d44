// Package panics converts panics to errors with a stack trace. A client uses it on every goroutine:
// an uncaught panic would leave the terminal unusable. The owner of such an error stops the failed
// work and reports it once the terminal is restored.
//
// A server uses it for connections and requests, where a panic ends only that one. It does not use
// it for sessions and the store: their state may be inconsistent after a panic, so the server exits
// and recovers from the store. The package must not depend on the code it guards.
package panics
