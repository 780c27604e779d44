// Package sessionview implements the screen of one session. [View] routes messages to its parts: the
// replica of the session's state, the transcript, the panels, the composer and the overlays. The parts
// below this directory have their own state, return what they want of the view, and do not know it.
// Commands reach the server only through the [request.Sender].
package sessionview
