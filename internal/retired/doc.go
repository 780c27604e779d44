// Package retired owns the names that an earlier version accepted and this one does not: settings,
// actions in the user's keys, and verbs. It has one table of them, which docs/upgrading.md lists. A
// retired name in a file is ignored, and users are shown its replacement. The package must not know
// the readers or the meaning of the names.
package retired
