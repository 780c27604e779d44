// Package paneltest is the rig of the tests of the panels of a session: a replica made of the events
// of a journal, a fake session that records commands, and comparisons of the lines of the panel. It
// knows no panel and no screen.
package paneltest
