// Package hook sends notifications of events in sessions: to URLs, signed, and to commands. It
// reads the log of sessions after their commits, as clients do, so a slow or missing receiver costs
// a session nothing. It serves the pages on which a link of a notification decides a request.
//
// Each hook is one goroutine, which owns its queue and its positions. The package owns the files of
// its directory: positions of hooks, and hashes of links. It must not hold up a session. It decides
// requests only by its own links and by deny_after.
package hook
