// Package cli is the command line of the program: the root command, its help for a dialect, its
// completion, and the exit code of a run. It joins the verbs of the packages below it, and builds
// only the one that a command line names.
//
// It knows no verb but version. A verb is a value of its package.
package cli
