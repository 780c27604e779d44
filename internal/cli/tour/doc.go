// Package tour has the verb tour: a server in this process, its scripted session, and the screen
// with a guide, or lines without a terminal. It leaves nothing behind.
//
// It uses nothing of the packages of other verbs.
package tour
