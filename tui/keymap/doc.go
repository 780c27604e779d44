// Package keymap owns the actions of the screen and the keys that trigger them: one table of
// bindings by scope, a part of the screen, from which dispatch, hints, the help screen and the
// user's own keys follow. It must not know what an action does.
package keymap
