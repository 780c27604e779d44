// Package subagent holds which sessions show sub-agents, and below which parent: the ids of their
// sessions, how many each root has, and who follows when a parent goes.
//
// It must not know sessions, agents, or why a session is made.
package subagent
