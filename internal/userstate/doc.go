// Package userstate keeps what the programs of a user remember between runs, such as drafts and
// choices on the screen, as JSON files. It owns the rule for their directory and how they are read
// and written. It must not know what a file holds.
package userstate
