// Package dialect hosts the codecs of foreign protocols. It finds a dialect by name and checks its
// options, and its Conn makes a foreign WebSocket look like a native one to server and client.
//
// It owns the WebSocket and its goroutines, and reads HTTP paths for codecs that ask for them. The
// meaning of foreign messages belongs to the codecs (protocol/<dialect>).
package dialect
