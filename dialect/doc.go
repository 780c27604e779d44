// Package dialect hosts the codecs of foreign protocols: it knows them by name, and its Conn makes a foreign WebSocket look
// like a native one, so that neither server nor client has to know on which they are.
//
// It owns the socket that it is given, and asks over HTTP what a codec wants to know beside it. What foreign messages mean is the
// codecs' business (protocol/<dialect>).
package dialect
