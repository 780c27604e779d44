// Package retired owns the names that an earlier version knew and this one does not: settings,
// actions in the user's keys, and verbs. It has one table of them, which docs/upgrading.md lists.
// A retired name is ignored where it stands in a file, and users read what takes its place. It must
// not know who reads the names, or what they meant.
package retired
