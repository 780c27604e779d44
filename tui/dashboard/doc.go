// Package dashboard implements the screen that lists all sessions: the list, the preview, the
// approval dialog, forms to create, rename and close sessions, and the results of a search. It
// returns intents such as [OpenIntent], which the program carries out.
package dashboard
