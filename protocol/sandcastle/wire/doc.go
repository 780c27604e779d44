// Package wire has the messages of Sandcastle's protocol, as both ends send and decode them: the
// @effect/rpc layer, requests and their results, session events, chat events, history, and the
// forms of approvals and modes. It must not know connections.
package wire

// Name is the name of the dialect.
const Name = "sandcastle"
