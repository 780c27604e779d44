// Package call has the action of verbs that send one command to a session and print the result. It
// owns what such verbs share: the session first, the data made of arguments and flags, the text of a
// message from stdin, the idempotency key, and one connection for a command per repeated argument.
//
// It knows no verb. A verb that asks, waits, or sends several commands has its own steps.
package call
