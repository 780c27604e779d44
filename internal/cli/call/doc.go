// Package call makes verbs of rows: a verb that sends one command to a session, made of its arguments
// and flags, and prints the result. It owns what such verbs share: arguments counted and named by the
// usage line, the session first, completion, the idempotency key, and one connection for a command per
// repeated argument.
//
// It knows no verb. A verb that asks, waits, or sends several commands is no row.
package call
