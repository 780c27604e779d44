// Package wsclient is the client's end of the native protocol: one connection to one server, many sessions on it. It dials,
// says hello, pairs answers with commands, follows sessions from a position over any number of reconnects, acknowledges what
// its caller took, and waits between attempts.
//
// It owns the connection and nothing else: what events mean is the fold's business, what people see the screen's. It must not
// know servers, terminals or files other than the socket it dials.
package wsclient
