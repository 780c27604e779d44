// Package sessionview owns the screen of one session. [View] routes messages to its parts: the
// replica of the session's state, the transcript, the approval panel, the queue, the plan, the
// composer, search, copy mode and the overlays. Parts return their intent; the commander alone
// sends commands to the server.
package sessionview
