// Package steer has the verbs that steer a session: send a message, wait, interrupt, edit the
// queue, decide requests, revoke rules, run plans and tasks, and set options of the agent.
//
// It uses nothing of the packages of other verbs.
package steer
