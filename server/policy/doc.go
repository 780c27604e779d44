// Package policy decides which tool calls and agent requests need no user: policies by name, policy
// files, and the certain effect of a request. It has only data and pure functions, except that it
// resolves links in paths.
//
// It must not know the names of agents and of their tools, sessions, or how a decision is recorded.
package policy
