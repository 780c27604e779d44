// Package presence keeps the clients of a session: who is subscribed, who is announced to the others,
// and how far each lags behind the log.
//
// It must not know the log, or what clients read from it.
package presence
