// Package hook sends notifications of what happens in sessions: to URLs, signed, and to commands.
// It reads the log of sessions behind their commits, as clients do, so a receiver that is slow or
// gone costs a session nothing. It serves the pages on which a link of a notification decides a
// request.
//
// Each hook is one goroutine, which owns its queue and its positions. The package owns the files of
// its directory: positions of hooks, and hashes of links. It must not hold up a session, and
// decides only what a link of its own or deny_after decides.
package hook
