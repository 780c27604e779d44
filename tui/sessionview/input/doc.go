// Package input is the message box of a session: the composer with its title and placeholder, the
// files of the message, the earlier messages of the user, drafts, the messages that no event has
// reported yet, and the edit of a queued message and of the last one. [Input] gives each key to the
// part that takes it. A part has its own state and does not know the input. The input returns what the
// view should do as a [panel.Result]; it knows neither the view nor who else takes keys.
package input
