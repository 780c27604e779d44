// Package shellview shows the output of a shell command that the user runs beside a session. It knows
// neither the session nor its view: the user takes the output into the message by a [TakeIntent].
package shellview
