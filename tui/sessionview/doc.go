// Package sessionview implements the screen of one session. [View] routes messages to its parts:
// the replica of the session's state, the transcript, the approval panel, the queue, the plan, the
// composer, search, copy mode and the overlays. The parts return what they want of the view.
// Commands reach the server only through the [request.Sender].
package sessionview
