// Package verbtest is the rig of the tests of verbs: a command line parsed into the options of a verb,
// and the output of a screen.
package verbtest
