// Package protolog owns the wire as a person sees it: a Log of the newest frames
// of a connection, the messages in them with what each is about, a Filter, and the
// Panel that lists them.
//
// It must not know sockets, the screen's program, or what a message means beyond
// its name, its id and its place: every dialect is told alike. Frames come in as
// they were; nothing leaves a Log with a credential in it.
package protolog
