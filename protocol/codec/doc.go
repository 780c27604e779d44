// Package codec is what codecs of foreign protocols share. At our server's end, Requests sends native commands and pairs
// their answers. At our client's end, Desk answers native commands as a server would, and Log is a session as the client sees
// it: events with seqs, the state they fold to, and attachment from any position that is still known.
//
// It is pure, as the codecs are: no goroutine, no clock, no I/O. It knows no dialect.
package codec
