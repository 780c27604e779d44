// Package agents has the verb agents: which agents the server can run, what they lack, their login,
// and the sessions that they have stored themselves.
//
// It uses nothing of the packages of other verbs.
package agents
