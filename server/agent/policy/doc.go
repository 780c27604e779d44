// Package policy decides which calls of tools run without asking a user. It is data and one pure
// function: it knows no tool, no agent and no session.
package policy
