// Package wire has the messages of the AgentLoop protocol, as both ends send and decode them:
// messages and their payloads, items of a conversation, the words of a review, and the texts and
// patches that replace missing fields of the protocol. It must not know connections or turns.
package wire
