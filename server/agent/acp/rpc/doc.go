// Package rpc implements JSON-RPC 2.0 over lines of JSON, with a peer that may misbehave.
//
// It owns the pairing of requests and responses, message order and limits. Lines have at most
// MaxLine bytes. The reader waits for the handler, so a slow handler slows the peer and no message
// is dropped. Invalid lines do not end the connection. It must not know any method but the notification
// by which either side withdraws a request.
package rpc
