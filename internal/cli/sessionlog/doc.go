// Package sessionlog reads the events of a session over a connection, to the end or on and on, and
// reads exported logs.
//
// It knows no verb, and prints nothing but notes about replaced logs.
package sessionlog
