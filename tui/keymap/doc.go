// Package keymap defines the actions of the screen and the keys and commands that trigger them, one row
// an action. The rows are in the file of their screen. Dispatch, hints, the help screen, the palette and
// the user's keys derive from them. It must not know what an action does.
package keymap
