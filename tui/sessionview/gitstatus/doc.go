// Package gitstatus holds what git knows of the session's directory. The server runs git. It asks only
// while the answer is shown, and again after a turn.
package gitstatus
