// Package store has the verbs that work on stored sessions by path: backup, restore, check and
// repair.
//
// It uses nothing of the packages of other verbs.
package store
