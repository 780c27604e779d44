// Package dashboard owns the screen of all sessions: the list, the preview, decisions from the
// list, forms to create, rename and end sessions, and the results of a search. It returns intents
// such as [OpenIntent]; the program opens the session.
package dashboard
