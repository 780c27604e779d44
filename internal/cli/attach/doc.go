// Package attach has the verb attach: a session or the dashboard on the screen, lines without one,
// and replays. It owns the state of the screen that the user finds again: read marks and the layout
// of panes. The verb keys lists the keys of the screen.
//
// It uses nothing of the packages of other verbs.
package attach
