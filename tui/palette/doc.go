// Package palette finds commands by name: those of a screen, from the table of tui/keymap, and
// those of the agent. [Palette] is an overlay with a text field. [NewList] describes its rows; the
// message box shows such a list while the message is a single word after a slash. The screen runs the
// command that the user chose.
package palette
