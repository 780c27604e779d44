// Package sessions has the verbs about sessions as a whole: list and watch them, rename, label,
// fork and remove them, import one, and export and restore the state of one.
//
// It uses nothing of the packages of other verbs.
package sessions
