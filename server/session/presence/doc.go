// Package presence keeps the clients of a session: subscribed ones, the ones announced to others,
// and their lag behind the log.
//
// It must not know the log or its readers.
package presence
