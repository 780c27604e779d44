// Package pane implements the transcript pane of the session view: selection, jumps, search, the list
// of turns, copy mode and older turns on request. A [Pane] changes its own state and returns what the
// view should do as a [panel.Result]; it knows neither the view nor its other parts.
package pane
