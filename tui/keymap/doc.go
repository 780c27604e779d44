// Package keymap defines the actions of the screen and the keys that trigger them, in one table of
// bindings by scope. Dispatch, hints, the help screen and the user's keys derive from it. It must
// not know what an action does.
package keymap
