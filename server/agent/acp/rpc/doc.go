// Package rpc speaks JSON-RPC 2.0, one object per line, with a peer that may misbehave.
//
// It owns pairing, order and bounds: lines of up to MaxLine bytes, a reader that waits for whoever handles a message
// (so a slow consumer slows the peer and nothing is dropped), answers to requests, and survival of lines that are no
// JSON-RPC. It must not know any method.
package rpc
