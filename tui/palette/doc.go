// Package palette finds commands by name: commands of a screen, from the table of tui/keymap, and
// of the agent. [Palette] is an overlay with a text field. [NewList] describes its rows; the
// message box shows such a list while the message is a single word after a slash. The screen runs the
// command that the user chose.
package palette
