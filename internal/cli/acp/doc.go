// Package acp has the verb acp, which serves sessions to an editor with the Agent Client Protocol on
// stdin and stdout.
//
// It uses nothing of the packages of other verbs.
package acp
