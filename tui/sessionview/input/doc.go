// Package input is the message box of a session: the composer with its title and placeholder, the
// files of the message, the lists that complete commands and files, the earlier messages of the user,
// drafts, and the edit of a queued message. It changes its own state and returns what the view should
// do as a [panel.Result]. It knows neither the view nor who else takes keys.
package input
