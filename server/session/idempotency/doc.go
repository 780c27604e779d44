// Package idempotency makes a command with a key act once: the same command sent again gets the first
// answer, and the key with another command is an error. Answers are stored in the commit of the
// command's events.
//
// It must not know the effect of commands, or sessions.
package idempotency
