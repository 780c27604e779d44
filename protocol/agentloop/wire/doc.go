// Package wire has the messages of the AgentLoop protocol, as both ends send and decode them:
// messages and their payloads, items of a conversation, the words of a review, and the texts and
// patches that stand for what the protocol has no field for. It knows no connection and no turn.
package wire
