// Package wsclient implements the client side of the native protocol: one connection to one
// server, carrying any number of sessions. It dials, sends hello, pairs answers with commands,
// resumes subscriptions by position after each reconnect, acknowledges consumed events, and
// backs off between attempts. It can also speak a dialect, through package dialect.
//
// A program creates a Client with New, follows sessions with Client.Subscribe, follows the
// session list with Client.Watch, and sends commands with Call or Client.Do. All of these connect
// on first use and survive reconnects. Call Client.Close when done.
//
// Events are delivered as received; protocol.State.Apply reduces them to a session's state.
//
// The package must not depend on servers, terminals or files, except for the socket it dials.
package wsclient
