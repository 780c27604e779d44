// Package mcp connects the llm agent to servers of the Model Context Protocol: programs that it
// starts, and URLs. Their tools become tools of the model, their prompts commands of users.
//
// It owns the connections of one session: one goroutine for each server connects, reads what the
// server offers and connects again after a failure. Everything that a server sends is untrusted and
// bounded. The package must not know which calls run without asking: the policy decides it.
package mcp
